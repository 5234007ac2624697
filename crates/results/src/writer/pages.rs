//! Parquet pages with checksums.
//!
//! The parquet crate checks checksums of pages but writes none, and a flipped bit in a plain number
//! is still a number. Our pages are the simplest there are (plain 64-bit floats or lists of them, of one
//! length, none missing, not compressed), so they are written here, and the crate writes everything
//! around them.

use parquet::basic::{CompressionCodec, Encoding, EncodingMask};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

/// A page is read, and its checksum checked, as a whole: large enough that its header does not count,
/// and as large as a column of a full batch, so that such a one is copied once.
pub(super) const PAGE_BYTES: usize = 32 << 10;

/// A column of a row group: pages of plain values.
pub(super) struct Chunk {
    pages: Vec<u8>,
    /// Values too few for a page of their own, as yet.
    waiting: Vec<u8>,
    values: usize,
    kind: Kind,
}

/// What the rows of a column are.
#[derive(Clone, Copy)]
enum Kind {
    Numbers,
    /// Lists of so many numbers.
    Lists(usize),
}

impl Kind {
    /// Bytes of the values of a page: whole rows.
    fn page_bytes(self) -> usize {
        let row = self.row_values() * size_of::<f64>();
        (PAGE_BYTES / row).max(1) * row
    }

    fn row_values(self) -> usize {
        match self {
            Self::Numbers => 1,
            Self::Lists(width) => width.max(1),
        }
    }
}

impl Chunk {
    pub(super) fn of_numbers() -> Self {
        Self::of(Kind::Numbers)
    }

    /// Of lists of so many numbers.
    pub(super) fn of_lists(width: usize) -> Self {
        Self::of(Kind::Lists(width))
    }

    fn of(kind: Kind) -> Self {
        Self {
            pages: Vec::new(),
            waiting: Vec::new(),
            values: 0,
            kind,
        }
    }

    /// Adds values, each eight bytes in little-endian order.
    pub(super) fn extend(&mut self, values: &[u8]) {
        self.values += values.len() / size_of::<f64>();
        // Pages are of one size, whatever the batches are: these depend on the clock.
        let page_bytes = self.kind.page_bytes();
        let mut rest = values;
        if !self.waiting.is_empty() {
            let (first, others) = rest.split_at(rest.len().min(page_bytes - self.waiting.len()));
            self.waiting.extend_from_slice(first);
            rest = others;
            if self.waiting.len() == page_bytes {
                write_page(&mut self.pages, &self.waiting, self.kind);
                self.waiting.clear();
            }
        }
        let mut whole = rest.chunks_exact(page_bytes);
        for page in &mut whole {
            write_page(&mut self.pages, page, self.kind);
        }
        self.waiting.extend_from_slice(whole.remainder());
    }

    /// The chunk as it stands in the file, and what the file says about it. Nothing is left then.
    pub(super) fn take(
        &mut self,
        column: ColumnDescPtr,
    ) -> Result<(Vec<u8>, ColumnCloseResult), ParquetError> {
        let Self {
            pages: mut bytes,
            waiting,
            values,
            kind,
        } = std::mem::replace(self, Self::of(self.kind));
        if !waiting.is_empty() {
            write_page(&mut bytes, &waiting, kind);
        }
        // The next chunk will be as large.
        self.pages.reserve(bytes.len());
        let mask = EncodingMask::new_from_encodings([Encoding::PLAIN, Encoding::RLE].iter());
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression_codec(CompressionCodec::UNCOMPRESSED)
            .set_encodings_mask(mask)
            .set_num_values(values as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(bytes.len() as i64)
            .set_data_page_offset(0)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: (values / kind.row_values()) as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, close))
    }
}

fn write_page(out: &mut Vec<u8>, values: &[u8], kind: Kind) {
    let count = values.len() / size_of::<f64>();
    match kind {
        Kind::Numbers => {
            write_header(out, values, count);
            out.extend_from_slice(values);
        }
        Kind::Lists(width) => {
            let mut page = levels(count, width);
            page.extend_from_slice(values);
            write_header(out, &page, count);
            out.extend_from_slice(&page);
        }
    }
}

/// Where lists begin and which of their numbers are there, as runs of equal levels: each run is twice its
/// length and its level. The first number of a list has repetition level zero, the others one; all are
/// there.
fn levels(count: usize, width: usize) -> Vec<u8> {
    let mut repetition = Vec::new();
    for _ in 0..count / width.max(1) {
        repetition.extend([2, 0]);
        if width > 1 {
            write_varint(&mut repetition, 2 * (width as u32 - 1));
            repetition.push(1);
        }
    }
    let mut definition = Vec::new();
    write_varint(&mut definition, 2 * count as u32);
    definition.push(1);
    let mut bytes = Vec::new();
    for levels in [repetition, definition] {
        bytes.extend((levels.len() as u32).to_le_bytes());
        bytes.extend(levels);
    }
    bytes
}

/// The header of a page of so many plain values, in the compact protocol of Thrift: for each field the
/// distance from the last one and its type in one byte, then its value.
fn write_header(out: &mut Vec<u8>, page: &[u8], count: usize) {
    const INT: u8 = 0x15;
    const STRUCT: u8 = 0x1c;
    const DATA_PAGE: i32 = 0;
    const PLAIN: i32 = 0;
    const RLE: i32 = 3;
    let size = page.len() as i32;
    // 1 type, 2 uncompressed size, 3 compressed size, 4 checksum.
    for value in [DATA_PAGE, size, size, crc32fast::hash(page) as i32] {
        out.push(INT);
        write_int(out, value);
    }
    // 5 data page: 1 values, 2 their encoding, 3 and 4 those of levels, of which numbers have none.
    out.push(STRUCT);
    for value in [count as i32, PLAIN, RLE, RLE] {
        out.push(INT);
        write_int(out, value);
    }
    out.extend([0, 0]);
}

/// Zigzag, then seven bits a byte.
fn write_int(out: &mut Vec<u8>, value: i32) {
    write_varint(out, ((value << 1) ^ (value >> 31)) as u32);
}

fn write_varint(out: &mut Vec<u8>, value: u32) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
