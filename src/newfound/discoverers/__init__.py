"""Discoverers: scikit-learn estimators that find novel classes, one a file; `newfound.registry` lists them."""
