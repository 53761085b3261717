"""
Handwritten digits, and the mistakes
====================================

Ten classes, 45 machines, all of them certified.
"""

from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import SVC
from maxmargin.report import ConfusionDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
model = SVC(C=10).fit(X, y)
said = model.predict(X_test)
ConfusionDisplay.from_predictions(y_test, said)
print(f"test accuracy {model.score(X_test, y_test):.1%}, largest gap {model.certificate_.gap:.1g}")

# %%
# What it got wrong:

wrong = (said != y_test).nonzero()[0][:8]
figure, axes = pyplot.subplots(1, wrong.size, figsize=(1.3 * wrong.size, 1.8))
for ax, i in zip(axes, wrong):
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y_test[i]}, said {said[i]}", fontsize=10)
    ax.axis("off")
