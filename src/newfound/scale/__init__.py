"""Tables that are larger than memory: what is done with a model batch by batch."""

from newfound.scale.predicting import predict_parquet

__all__ = ["predict_parquet"]
