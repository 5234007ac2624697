//! Parquet pages with checksums.
//!
//! The parquet crate checks checksums of pages but writes none, and a flipped bit in a plain number
//! is still a number. Our pages are the simplest there are (plain 64-bit floats, none missing, not
//! compressed), so their headers are written here, and the crate writes everything around them.

use parquet::basic::{CompressionCodec, Encoding, EncodingMask};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

/// A page is read, and its checksum checked, as a whole: large enough that its header does not count,
/// and as large as a column of a full batch, so that such a one is copied once.
pub(super) const PAGE_BYTES: usize = 32 << 10;

/// A column of a row group: pages of plain values.
#[derive(Default)]
pub(super) struct Chunk {
    pages: Vec<u8>,
    /// Values too few for a page of their own, as yet.
    waiting: Vec<u8>,
    values: usize,
}

impl Chunk {
    /// Adds values, each eight bytes in little-endian order.
    pub(super) fn extend(&mut self, values: &[u8]) {
        self.values += values.len() / size_of::<f64>();
        // Pages are of one size, whatever the batches are: these depend on the clock.
        let mut rest = values;
        if !self.waiting.is_empty() {
            let (first, others) = rest.split_at(rest.len().min(PAGE_BYTES - self.waiting.len()));
            self.waiting.extend_from_slice(first);
            rest = others;
            if self.waiting.len() == PAGE_BYTES {
                write_page(&mut self.pages, &self.waiting);
                self.waiting.clear();
            }
        }
        let mut whole = rest.chunks_exact(PAGE_BYTES);
        for page in &mut whole {
            write_page(&mut self.pages, page);
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
            values: rows,
        } = std::mem::take(self);
        if !waiting.is_empty() {
            write_page(&mut bytes, &waiting);
        }
        // The next chunk will be as large.
        self.pages.reserve(bytes.len());
        let mask = EncodingMask::new_from_encodings([Encoding::PLAIN, Encoding::RLE].iter());
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression_codec(CompressionCodec::UNCOMPRESSED)
            .set_encodings_mask(mask)
            .set_num_values(rows as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(bytes.len() as i64)
            .set_data_page_offset(0)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, close))
    }
}

fn write_page(out: &mut Vec<u8>, values: &[u8]) {
    write_header(out, values);
    out.extend_from_slice(values);
}

/// The header of a page of plain values, in the compact protocol of Thrift: for each field the
/// distance from the last one and its type in one byte, then its value.
fn write_header(out: &mut Vec<u8>, page: &[u8]) {
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
    // 5 data page: 1 values, 2 their encoding, 3 and 4 those of levels, of which there are none.
    out.push(STRUCT);
    for value in [size / size_of::<f64>() as i32, PLAIN, RLE, RLE] {
        out.push(INT);
        write_int(out, value);
    }
    out.extend([0, 0]);
}

/// Zigzag, then seven bits a byte.
fn write_int(out: &mut Vec<u8>, value: i32) {
    let mut rest = ((value << 1) ^ (value >> 31)) as u32;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
