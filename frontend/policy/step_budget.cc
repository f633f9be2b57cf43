#include "frontend/policy/step_budget.h"

namespace search::frontend {

int PercentOf(BudgetStep step) {
  switch (step) {
    case BudgetStep::kCache:
      return 20;
    case BudgetStep::kGate:
      return 50;
    case BudgetStep::kTier:
      return 60;
    case BudgetStep::kSpelling:
      return 40;
    case BudgetStep::kDocuments:
      return 90;
    case BudgetStep::kDetails:
      break;
  }
  return 100;
}

neptune::TimePoint StepBudget::EndOf(BudgetStep step, neptune::Duration limit,
                                     neptune::TimePoint now) const {
  if (IsSpent(now)) return now;
  return now + std::min(limit, (deadline_ - now) / 100 * PercentOf(step));
}

}  // namespace search::frontend
