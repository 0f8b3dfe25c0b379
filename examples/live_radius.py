"""A radius that grows while your loop waits: look at it as often as you like, and stop when you like.

The bound is a confidence sequence. It holds at all looks at once, so stopping because of what was seen costs nothing.
"""

import secrets
import time

import smoothcert as sc

ENOUGH = 0.3  # radius in pixel units that lets the loop go on at once
PATIENCE = 2.0  # seconds that it waits for one image at most

sc.train({"epochs": 5, "seed": 0}, "models/digits", show_progress=False)
classifier, camera = sc.load_classifier("models/digits"), sc.load_dataset("digits")

for number in range(4):  # the loop of your program: a camera, a queue, a sensor
    image, start, votes, radius = camera.image(number), time.monotonic(), 128, 0.0
    # One secret seed per image: a larger budget begins with the very votes of the smaller one and adds to them.
    seed = secrets.randbits(128)
    while radius < ENOUGH and time.monotonic() - start < PATIENCE and votes <= 8_192:
        procedure = sc.Sequential(max_samples=votes, tolerance=0)
        found = classifier.certify(image, procedure, alpha=0.001, seed=seed, engine="torch")
        radius = max(radius, found.radius)
        print(f"image {number}: {votes:5} votes, class {found.predicted}, radius {radius:.3f}")
        votes *= 2
    print(f"image {number}: {'go' if radius >= ENOUGH else 'careful'} after {time.monotonic() - start:.2f} s")
