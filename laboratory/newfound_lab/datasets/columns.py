"""Names of the columns of tables that come without a header, in the order of their files, without the class."""

from __future__ import annotations

__all__ = [
    "ADULT",
    "ADULT_NUMBERS",
    "COVERTYPE",
    "DERMATOLOGY_GRADES",
    "LETTER",
    "OPTDIGITS",
    "PENDIGITS",
    "SATIMAGE",
    "SOYBEAN",
]

# fmt: off
LETTER = (
    "x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar", "x2ybr", "xy2br", "x-ege",
    "xegvy", "y-ege", "yegvx",
)
PENDIGITS = tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy")
SATIMAGE = tuple(f"p{pixel}_b{band}" for pixel in range(1, 10) for band in range(1, 5))
OPTDIGITS = tuple(f"input{i}" for i in range(1, 65))
COVERTYPE = (
    "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points", *(f"Wilderness_Area{i}" for i in range(1, 5)),
    *(f"Soil_Type{i}" for i in range(1, 41)),
)
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
DERMATOLOGY_GRADES = (
    "erythema", "scaling", "definite_borders", "itching", "koebner_phenomenon", "polygonal_papules",
    "follicular_papules", "oral_mucosal_involvement", "knee_and_elbow_involvement", "scalp_involvement",
    "family_history", "melanin_incontinence", "eosinophils_in_the_infiltrate", "PNL_infiltrate",
    "fibrosis_of_the_papillary_dermis", "exocytosis", "acanthosis", "hyperkeratosis", "parakeratosis",
    "clubbing_of_the_rete_ridges", "elongation_of_the_rete_ridges", "thinning_of_the_suprapapillary_epidermis",
    "spongiform_pustule", "munro_microabcess", "focal_hypergranulosis", "disappearance_of_the_granular_layer",
    "vacuolisation_and_damage_of_basal_layer", "spongiosis", "saw-tooth_appearance_of_retes", "follicular_horn_plug",
    "perifollicular_parakeratosis", "inflammatory_monoluclear_inflitrate", "band-like_infiltrate",
)
# each column with its categories; the file has their positions, from 0
SOYBEAN = {
    "date": "april may june july august september october",
    "plant-stand": "normal lt-normal",
    "precip": "lt-norm norm gt-norm",
    "temp": "lt-norm norm gt-norm",
    "hail": "yes no",
    "crop-hist": "diff-lst-year same-lst-yr same-lst-two-yrs same-lst-sev-yrs",
    "area-damaged": "scattered low-areas upper-areas whole-field",
    "severity": "minor pot-severe severe",
    "seed-tmt": "none fungicide other",
    "germination": "90-100 80-89 lt-80",
    "plant-growth": "norm abnorm",
    "leaves": "norm abnorm",
    "leafspots-halo": "absent yellow-halos no-yellow-halos",
    "leafspots-marg": "w-s-marg no-w-s-marg dna",
    "leafspot-size": "lt-1/8 gt-1/8 dna",
    "leaf-shread": "absent present",
    "leaf-malf": "absent present",
    "leaf-mild": "absent upper-surf lower-surf",
    "stem": "norm abnorm",
    "lodging": "yes no",
    "stem-cankers": "absent below-soil above-soil above-sec-nde",
    "canker-lesion": "dna brown dk-brown-blk tan",
    "fruiting-bodies": "absent present",
    "external-decay": "absent firm-and-dry watery",
    "mycelium": "absent present",
    "int-discolor": "none brown black",
    "sclerotia": "absent present",
    "fruit-pods": "norm diseased few-present dna",
    "fruit-spots": "absent colored brown-w/blk-specks distort dna",
    "seed": "norm abnorm",
    "mold-growth": "absent present",
    "seed-discolor": "absent present",
    "seed-size": "norm lt-norm",
    "shriveling": "absent present",
    "roots": "norm rotted galls-cysts",
}
# fmt: on
