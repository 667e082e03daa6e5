//! Published accuracies on ImageNet that cells show and compute with: the shares of its test pictures that
//! models of Dosovitskiy et al. 2021 name.

/// ViT-B/16 after pre-training with labels, on ImageNet, ImageNet-21k and JFT-300M (table 5). The first is
/// the model trained from scratch on ImageNet.
pub(crate) const BASE: [f64; 3] = [0.7791, 0.8397, 0.8415];

/// ViT-L/16 after the same (table 5).
pub(crate) const LARGE: [f64; 3] = [0.7653, 0.8515, 0.8712];

/// ViT-B/16 after masked patch prediction on JFT-300M (section 4.6).
pub(crate) const MASKED: f64 = 0.799;
