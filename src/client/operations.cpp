// Operations that are not about a request: operators' commands, snapshots, connect and close. Each is sent once there
// is a connection. Each is completed in any case: after its wait with store_unavailable.
#include <algorithm>

#include "baton/error.hpp"
#include "client/session.hpp"

namespace baton::detail {

operation session::begin(client_time now, begun_operation begun) {
    pass_time(now);
    operations_.emplace(++operation_, std::move(begun));
    const operation made = operation_;
    send_operations(now);
    return made;
}

operation session::operate(client_time now, protocol::command command, client_duration wait, operation_owner owner) {
    return begin(now, {purpose::command, later(now, wait), std::move(owner), std::move(command)});
}

operation session::inspect(client_time now, client_duration wait, operation_owner owner) {
    return begin(now, {purpose::inspect, later(now, wait), std::move(owner)});
}

operation session::connect(client_time now, client_duration wait, operation_owner owner) {
    return begin(now, {purpose::connection, later(now, wait), std::move(owner)});
}

/// Sends or completes the operations that can be. A `connect` sends nothing; it completes at the reply to `open`.
void session::send_operations(client_time now) {
    if (operations_.empty()) return;
    for (auto next = operations_.begin(); next != operations_.end();) {
        auto& [which, operation] = *next++;
        if (operation.what == purpose::closing || operation.sent) continue;
        const bool may_view = operation.what == purpose::inspect && only_inspects_ && !refused_.code;
        if (closing_)
            finish(which, {errc::closed});
        else if (may_view && up_)
            operation.sent = true, act(detail::inspect{which, operation.owner});
        else if (may_view && briefs_fail())
            finish(which, no_connection());
        else if (may_view)
            continue;
        else if (broken_.code || refused_.code)
            recheck_rights(now), finish(which, broken_.code ? broken_ : refused_);
        else if (briefs_fail())
            finish(which, no_connection());
        else if (operation.what == purpose::connection && is_alive_)
            finish(which);
        else if (operation.what == purpose::inspect && can_operate())
            operation.sent = true, act(detail::inspect{which, operation.owner});
        else if (operation.what == purpose::command && can_operate())
            operation.sent = true, transmit(now, kind::operate, which, std::move(*operation.command));
    }
}

void session::finish(operation which, store_error error, std::vector<protocol::event> events, bool confirmed) {
    if (auto found = operations_.extract(which))
        act(operated{which, std::move(found.mapped().owner), std::move(error), std::move(events), confirmed});
}

void session::finish_all(purpose what, const store_error& error, bool confirmed) {
    for (auto next = operations_.begin(); next != operations_.end();) {
        const auto& [which, operation] = *next++;
        if (operation.what == what) finish(which, error, {}, confirmed);
    }
}

void session::finish_overdue(client_time now) {
    const auto overdue = [now](const auto& each) { return each.second.give_up <= now; };
    for (auto next = std::ranges::find_if(operations_, overdue); next != operations_.end();
         next = std::ranges::find_if(operations_, overdue)) {
        const operation which = next->first;
        const bool closing = next->second.what == purpose::closing;
        if (closing) finish_others();
        if (only_inspects_ && next->second.sent) act(reset_connection{});  // no renewal notices a silent connection
        finish(which, closing ? store_error{} : unavailable());
    }
}

/// No callback runs after close has returned, so all other operations are completed before it.
void session::finish_others() {
    for (const purpose what : {purpose::command, purpose::inspect, purpose::connection})
        finish_all(what, {errc::closed});
    for (auto& [number, request] : requests_)
        if (std::exchange(request.confirm, false)) act(released{request.order.owner, false});
}

/// The error of an outage, with its cause.
store_error session::unavailable() const {
    store_error error{errc::store_unavailable};
    if (up_)
        error.text = "the store does not reply";
    else if (!connection_error_.code)
        error.text = "no reply so far";
    else if (connection_error_.code == error.code && connection_error_.text.empty())
        error.text = "the connection is broken";
    else
        error.text = describe(connection_error_.code, connection_error_.text);
    return error;
}

/// The error of a call that does not wait for a connection: the server's refusal, or the outage.
store_error session::no_connection() const { return is_refusal(connection_error_) ? connection_error_ : unavailable(); }

void session::end_requests(client_time now) {
    pass_time(now);
    ending_ = true;
    for_each([&](request& request) {
        if (request.phase == phase::held) lose_held(request);
        if (is_decided(request)) return;
        act(not_acquired{request.order.owner, request.handle, {errc::closed}});
        withdraw(now, request, protocol::release_kind::keep);
    });
}

/// Releases everything. The requests stay until the store confirms that, so that the next connection can repeat it.
operation session::close(client_time now, client_duration wait, operation_owner owner) {
    const operation made = begin(now, {purpose::closing, later(now, wait), std::move(owner)});
    if (closed_) {
        finish(made, {}, {}, *closed_);
        return made;
    }
    if (std::exchange(closing_, true)) return made;
    presented_.reset();
    send_operations(now);  // fails those that are not sent
    end_requests(now);
    for (auto& [number, request] : requests_) {
        if (request.phase != phase::lost) continue;
        request.phase = phase::leaving;  // `close` itself releases it, cleanly
        set_alarm(request);
    }
    if (up_ && opened_)
        send_close(now);
    else if (requests_.empty())
        end(true);
    else if (!up_)
        act(reset_connection{});  // the next regular attempt may come after the caller's wait
    else if (open_at_)
        open_at_ = std::min(*open_at_, now + close_retry);  // the last `open` has failed
    return made;
}

void session::send_close(client_time now) {
    transmit(now, kind::close, 0, protocol::close{id_, protocol::closing::left});
}

void session::end(bool confirmed) {
    closed_ = confirmed;
    while (!requests_.empty()) forget(requests_.begin()->second, confirmed);
    finish_others();
    finish_all(purpose::closing, {}, confirmed);
}

void session::finish_as_closed() {
    finish_others();
    finish_all(purpose::closing, {errc::closed});
}

}  // namespace baton::detail
