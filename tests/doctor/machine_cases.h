#pragma once
// A machine, and what doctor must say of it.
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "fake_machine.h"

namespace attnscope::doctor::test {

struct Expected {
    std::string check;
    State state;
    std::string seen, remedy;  ///< words
};

struct Wanted {
    std::optional<Use> asked;
    Use found;  ///< what doctor takes it to be
};

struct Case {
    const char* name;
    void (*make)(FakeMachine&);
    Wanted wanted;
    std::vector<Use> usable;  ///< in the order prediction, records, counters
    std::vector<Expected> expected;
    std::vector<std::string> program = {};
};

inline std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.name;
}

inline const std::vector<Use> kNothing, kPrediction = {Use::prediction},
                                        kRecords = {Use::prediction, Use::records},
                                        kAll = {Use::prediction, Use::records, Use::counters};
inline constexpr Wanted kWithGpu = {std::nullopt, Use::counters}, kWithout = {std::nullopt, Use::prediction};
inline constexpr Wanted kForCounters = {Use::counters, Use::counters},
                        kForRecords = {Use::records, Use::records},
                        kForPrediction = {Use::prediction, Use::prediction};
using M = FakeMachine;

std::vector<Case> permission_cases();
std::vector<Case> driver_cases();
std::vector<Case> sharing_cases();
std::vector<Case> own_cases();

}  // namespace attnscope::doctor::test
