"""The steps of training: pure functions of tensors and random streams."""
