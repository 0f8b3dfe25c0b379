"""What users bring along, as classifiers and logits: answers of any form, arrays of any library, estimators."""
