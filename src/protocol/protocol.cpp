#include "baton/protocol.hpp"

#include "protocol/fields.hpp"

namespace baton::protocol {

std::string_view to_string(refusal reason) { return word(reason); }

std::string_view to_string(end_reason reason) { return word(reason); }

}  // namespace baton::protocol
