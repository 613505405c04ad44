// Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
//
// Pinocchio's rnea and crba over many states within one call, for pinocchio_chain.py: as a program
// in C++ uses them, all memory allocated beforehand.

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#define PUBLIC extern "C" __attribute__((visibility("default")))

using Matrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Vector = Eigen::Map<const Eigen::VectorXd>;

struct Arm
{
  pinocchio::Model model;
  pinocchio::Data data;
  explicit Arm(const pinocchio::Model & given) : model(given), data(given) {}
};

// A chain that turns about the z axes. Numbers of each body: R (9) and t (3) of its joint in the
// one before, mass, centre of mass (3), inertia about it (9).
PUBLIC Arm * make(int count, const double * numbers, const double * gravity)
{
  pinocchio::Model model;
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  for (int i = 0; i < count; ++i, numbers += 25)
  {
    const pinocchio::SE3 placement(
      Eigen::Map<const Matrix3>(numbers), Eigen::Map<const Eigen::Vector3d>(numbers + 9));
    const auto joint =
      model.addJoint(i, pinocchio::JointModelRZ(), placement, "joint" + std::to_string(i));
    const pinocchio::Inertia inertia(
      numbers[12], Eigen::Map<const Eigen::Vector3d>(numbers + 13),
      Eigen::Map<const Matrix3>(numbers + 16));
    model.appendBodyToJoint(joint, inertia, pinocchio::SE3::Identity());
  }
  return new Arm(model);
}

// rnea of all states, `repeats` times, and crba where `convention` is 0 (local) or 1 (world).
// Forces (states, n) and matrices (states, n, n), the upper triangles, are kept if asked for.
PUBLIC void run(
  Arm * arm, int states, const double * q, const double * v, const double * a, long repeats,
  int convention, double * forces, double * matrices)
{
  const pinocchio::Model & model = arm->model;
  pinocchio::Data & data = arm->data;
  const int n = model.nv;
  for (long repeat = 0; repeat < repeats; ++repeat)
    for (int i = 0; i < states; ++i)
    {
      pinocchio::rnea(
        model, data, Vector(q + i * n, n), Vector(v + i * n, n), Vector(a + i * n, n));
      if (forces)
        Eigen::Map<Eigen::VectorXd>(forces + i * n, n) = data.tau;
      if (convention < 0)
        continue;
      pinocchio::crba(
        model, data, Vector(q + i * n, n),
        convention ? pinocchio::Convention::WORLD : pinocchio::Convention::LOCAL);
      if (matrices)
        Eigen::Map<Eigen::MatrixXd>(matrices + i * n * n, n, n) = data.M;
    }
}
