// The instruction sets: compiled in, able to run here.
#pragma once
#include <string>
#include <vector>

#include "call.hpp"

namespace softlookup {

std::vector<std::string> compiled();   // best first on this machine
std::vector<std::string> supported();  // those of them that this machine and its system can run
const Unit& unit_of(const std::string& name, int dtype);

}  // namespace softlookup
