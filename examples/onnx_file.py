"""Certify an ONNX file, whoever exported it: the file says all, so its digest is the model's identity."""

import torch

import smoothcert as sc

# Stands for a file that somebody gave you. It takes pixels in [0, 1]; mean= and std= are for files that do not.
sc.train({"epochs": 3, "seed": 0}, "models/digits", show_progress=False)
network, _ = sc.load_model("models/digits")
torch.onnx.export(network, (torch.zeros(64, 1, 8, 8),), "net.onnx", external_data=False, verbose=False)

# No file says which noise it was trained for, so you do.
classifier = sc.load_classifier("net.onnx", noise=sc.Gaussian(0.25))
test = sc.load_dataset("digits")
run = sc.certify(
    classifier, test, procedure=sc.GroupSequential(radius=0.25, n=5_000), indices=range(20), out="runs/onnx"
)
print(f"{run.certified_accuracy([0.25])[0]:.0%} of 20 images are proven right within 0.25")

# The same as commands:
#   smoothcert describe net.onnx --sigma 0.25 --dataset digits
#   smoothcert certify net.onnx --sigma 0.25 --dataset digits --procedure group --radius 0.25 --out runs/onnx
report = sc.audit("runs/onnx")
print(report.line)
