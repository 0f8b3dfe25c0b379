"""Certify a torch model of your own: any module from images in [0, 1] to logits."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import smoothcert as sc

torch.manual_seed(0)
train, test = sc.load_dataset("digits", split="train"), sc.load_dataset("digits")
images, labels = train.batch(range(len(train))), torch.tensor(train.labels)

# Your model, trained as you like; only let it see the noise that it will be certified under.
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    loss = cross_entropy(model(images + 0.25 * torch.randn_like(images)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

classifier = sc.SmoothedClassifier(model.eval(), sc.Gaussian(0.25), num_classes=10)

# One image: the largest radius that 100 + 5,000 votes prove, false with probability at most .001.
certificate = classifier.certify(test.image(0), sc.FixedSample(n0=100, n=5_000), alpha=0.001)
print(f"image 0: class {certificate.predicted} within {certificate.radius:.3f} ({certificate.outcome})")

# A data set: three radii in one pass, as few votes as each image needs, in a folder that survives a crash.
radii = (0, 0.25, 0.5)
run = sc.certify(
    classifier,
    test,
    procedure=sc.Sequential(radii=radii, max_samples=5_000),
    indices=range(30),
    out="runs/own",
)
for radius, accuracy in zip(radii, run.certified_accuracy(radii), strict=True):
    print(f"certified accuracy at radius {radius}: {accuracy:.2f}")
