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

/// A page is read, and its checksum checked, as a whole.
const PAGE_BYTES: usize = 1 << 20;

/// A column of a row group: plain values, to be cut into pages.
#[derive(Default)]
pub(super) struct Chunk {
    values: Vec<u8>,
}

impl Chunk {
    pub(super) fn extend(&mut self, values: &[f64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.values.extend(bytes);
    }

    /// The chunk as it stands in the file, and what the file says about it. The values are gone
    /// then, their space stays.
    pub(super) fn take(
        &mut self,
        column: ColumnDescPtr,
    ) -> Result<(Vec<u8>, ColumnCloseResult), ParquetError> {
        let mut bytes = Vec::with_capacity(self.values.len() + 64);
        for page in self.values.chunks(PAGE_BYTES) {
            write_header(&mut bytes, page);
            bytes.extend_from_slice(page);
        }
        let rows = self.values.len() / size_of::<f64>();
        self.values.clear();
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
