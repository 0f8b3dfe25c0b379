"""Certify a network of timm: radii stay in pixel units, because the normalisation becomes part of the model.

Needs timm (pip install timm). Here its weights are random; yours come from noisy training, as a file.
"""

import timm
from safetensors.torch import save_file

import smoothcert as sc

# Stands for your training: timm's own ImageNet weights (pretrained=True) have seen no noise and certify little.
network = timm.create_model("resnet18", pretrained=False, num_classes=10)
save_file(network.state_dict(), "resnet18.safetensors")

# Naming the factory runs it; the weights are read as tensors and nothing else.
classifier = sc.load_classifier(
    "timm:create_model",
    arguments={"model_name": "resnet18", "num_classes": 10},
    weights="resnet18.safetensors",
    input_shape=(3, 32, 32),
    mean=network.pretrained_cfg["mean"],
    std=network.pretrained_cfg["std"],
    noise=sc.Gaussian(0.25),
)
print(classifier)

# Any tensor, array or picture of Pillow of that shape; here a digit, enlarged and in three channels.
image = sc.load_dataset("digits").image(0).repeat(3, 4, 4)
certificate = classifier.certify(image, sc.Sequential(radius=0.1, max_samples=1_000))
print(f"class {certificate.predicted}, radius {certificate.radius}: {certificate.outcome}")
