"""A fitted discoverer as an ONNX file, which predicts without newfound, torch or Python."""

from newfound.export.onnx_file import export_onnx, onnx_inputs

__all__ = ["export_onnx", "onnx_inputs"]
