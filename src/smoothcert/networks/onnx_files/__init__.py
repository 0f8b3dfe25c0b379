"""Networks of ONNX files, run by ONNX Runtime."""
