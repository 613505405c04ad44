# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Load the kernels of the arm where it is imported: a process forked from there has them."""

from softrobot_dynamics.description.shipped import shipped
from support.node_processes import compile_estimator, compile_for_nodes

compile_estimator(compile_for_nodes('pcc_arm'), shipped('estimators')['pcc_arm'])
