//! Tensors as files: CSV for spreadsheets, .npy for numpy.

use crate::computation::Tensor;

/// One line a row of the last axis, values as the shortest text that reads back the same. A tensor
/// with more than two axes is preceded on each line by its leading indices.
pub fn csv(tensor: &Tensor) -> String {
    let shape = tensor.shape();
    let width = shape.last().copied().unwrap_or(1).max(1);
    let leading = &shape[..shape.len().saturating_sub(1)];
    let values: Vec<f64> = tensor.values.iter().copied().collect();
    let mut out = String::new();
    for (line, row) in values.chunks(width).enumerate() {
        let mut fields = Vec::new();
        if leading.len() > 1 {
            let mut rest = line;
            let mut index = vec![0; leading.len()];
            for (slot, &n) in index.iter_mut().zip(leading).rev() {
                *slot = rest % n;
                rest /= n;
            }
            fields.extend(index.iter().map(usize::to_string));
        }
        fields.extend(row.iter().map(f64::to_string));
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// Version 1.0 of numpy's format, little-endian `f64`, row-major (NumPy Enhancement Proposal 1).
pub fn npy(tensor: &Tensor) -> Vec<u8> {
    let sides: String = tensor.shape().iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}",
        sides.trim_end_matches(' ')
    );
    // Magic, version and length take 10 bytes; the whole must be a multiple of 64 and end in a
    // newline.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(
        u16::try_from(header.len())
            .unwrap_or(u16::MAX)
            .to_le_bytes(),
    );
    out.extend(header.as_bytes());
    out.extend(tensor.values.iter().flat_map(|x| x.to_le_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array3, arr0, arr1, arr2};

    #[test]
    fn csv_has_a_line_a_row() {
        let tensor = Tensor {
            values: arr2(&[[1.0, -0.5], [f64::NEG_INFINITY, 3e-8]]).into_dyn(),
        };
        assert_eq!(csv(&tensor), "1,-0.5\n-inf,0.00000003\n");
        assert_eq!(
            csv(&Tensor {
                values: arr0(7.0).into_dyn()
            }),
            "7\n"
        );
        let cube = Tensor {
            values: Array3::from_shape_fn((2, 1, 2), |(i, _, k)| (i + k) as f64).into_dyn(),
        };
        assert_eq!(csv(&cube), "0,0,0,1\n1,0,1,2\n");
    }

    #[test]
    fn npy_is_laid_out_as_numpy_writes_it() {
        let bytes = npy(&Tensor {
            values: arr1(&[1.0, 2.0]).into_dyn(),
        });
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(
            header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }")
                && header.ends_with('\n')
        );
        assert_eq!(bytes.len(), 10 + length + 16);
        let scalar = npy(&Tensor {
            values: arr0(1.0).into_dyn(),
        });
        assert!(String::from_utf8_lossy(&scalar).contains("'shape': ()"));
        let matrix = npy(&Tensor {
            values: arr2(&[[1.0, 2.0, 3.0]]).into_dyn(),
        });
        assert!(String::from_utf8_lossy(&matrix).contains("'shape': (1, 3,)"));
    }
}
