// The session that a command speaks for; none for operators.
#pragma once

#include <variant>

#include "baton/protocol.hpp"

namespace baton::protocol {

[[nodiscard]] inline session_id sender_of(const command& command) {
    return std::visit(
        [](const auto& what) -> session_id {
            if constexpr (requires { what.request.session; })
                return what.request.session;
            else if constexpr (requires { what.session; })
                return what.session;
            else
                return {};
        },
        command);
}

}  // namespace baton::protocol
