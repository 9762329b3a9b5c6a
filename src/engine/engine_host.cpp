#include "engine/engine_host.hpp"

#include <algorithm>

namespace baton::core {
namespace {

/// The session that an event is for; none if it is for the sender of the command.
std::optional<session_id> session_of(const event& event) {
    return std::visit(
        [](const auto& what) -> std::optional<session_id> {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, refused>)
                return what.request ? std::optional{what.request->session} : std::nullopt;
            else if constexpr (std::is_same_v<What, revoking>)  // rule 11: in a pause the owner may not be notified
                return what.request != request_id{} ? std::optional{what.request.session} : std::nullopt;
            else if constexpr (requires { what.request; })
                return what.request.session;
            else if constexpr (requires { what.session; })
                return what.session;
            else
                return std::nullopt;
        },
        event.what);
}

}  // namespace

engine_host::result& engine_host::perform(const command& command, const session_id* sender) {
    last_ = now();
    engine_.apply(command, last_, events_);
    sort(events_, sender, result_);
    return result_;
}

void engine_host::sort(std::vector<event>& events, const session_id* sender, result& result) {
    result.reply.clear();
    result.notices.clear();
    const auto is_for_sender = [&](const event& event) {
        const auto session = session_of(event);
        return !session || (sender != nullptr && *session == *sender);
    };
    if (std::ranges::all_of(events, is_for_sender)) return result.reply.swap(events);
    for (event& event : events) {
        const bool for_other = !is_for_sender(event);
        // The operator gets the note and the deadline of the revocation, but not the session id, which is a secret.
        if (for_other && sender != nullptr && std::holds_alternative<revoking>(event.what)) {
            core::event reply = event;
            std::get<revoking>(reply.what).request = {};
            result.reply.push_back(std::move(reply));
        }
        if (for_other)
            result.notices.emplace_back(*session_of(event), std::move(event));
        else
            result.reply.push_back(std::move(event));
    }
}

std::optional<std::chrono::steady_clock::time_point> engine_host::next_due() const {
    const auto due = engine_.next_due(last_);
    if (!due) return {};
    return started_ + (*due - wall_at_start_);
}

}  // namespace baton::core
