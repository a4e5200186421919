"""Tables that are larger than memory, and work that is larger than a machine."""

from newfound.scale.cluster import RayExecutor
from newfound.scale.predicting import predict_parquet
from newfound.scale.scoring import predict_on_ray
from newfound.scale.training import fit_on_ray

__all__ = ["RayExecutor", "fit_on_ray", "predict_on_ray", "predict_parquet"]
