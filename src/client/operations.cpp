// Questions that are not about a request: an operator's commands, snapshots, whether the store can be reached, and the
// end. Each is asked as soon as there is a connection, and answered in any case: when its wait is over, as unavailable.
#include <algorithm>

#include "baton/error.hpp"
#include "client/session.hpp"

namespace baton::detail {

operation session::begin(client_time now, asked_operation asked) {
    pass_time(now);
    operations_.emplace(++operation_, std::move(asked));
    const operation made = operation_;
    send_operations(now);
    return made;
}

operation session::operate(client_time now, protocol::command command, client_duration wait, operation_owner owner) {
    return begin(now, {asks::command, later(now, wait), std::move(owner), std::move(command)});
}

operation session::inspect(client_time now, client_duration wait, operation_owner owner) {
    return begin(now, {asks::inspect, later(now, wait), std::move(owner)});
}

operation session::connect(client_time now, client_duration wait, operation_owner owner) {
    return begin(now, {asks::connection, later(now, wait), std::move(owner)});
}

/// Those that are not sent yet. A connection is not sent: it is there, or `on_alive` will tell.
void session::send_operations(client_time now) {
    if (operations_.empty()) return;
    for (auto next = operations_.begin(); next != operations_.end();) {
        auto& [which, operation] = *next++;
        if (operation.what == asks::closing || operation.sent) continue;
        if (closing_)
            finish(which, {errc::closed});
        else if (broken_.code || refused_.code)
            finish(which, broken_.code ? broken_ : refused_);
        else if (operation.what == asks::connection && is_alive_)
            finish(which);
        else if (operation.what == asks::inspect && can_talk())
            operation.sent = true, act(detail::inspect{which, operation.owner});
        else if (operation.what == asks::command && can_talk())
            operation.sent = true, transmit(now, kind::operate, which, std::move(*operation.command));
    }
}

void session::finish(operation which, store_error error, std::vector<protocol::event> events, bool confirmed) {
    if (auto asked = operations_.extract(which))
        act(operated{which, std::move(asked.mapped().owner), std::move(error), std::move(events), confirmed});
}

void session::finish_all(asks what, const store_error& error, bool confirmed) {
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
        const bool closing = next->second.what == asks::closing;
        if (closing) answer_others();
        finish(which, closing ? store_error{} : unavailable());
    }
}

/// No callback comes after a close has returned: what is not answered by then is answered now.
void session::answer_others() {
    for (const asks what : {asks::command, asks::inspect, asks::connection}) finish_all(what, {errc::closed});
    for (auto& [number, request] : requests_)
        if (std::exchange(request.confirm, false)) act(released{request.order.owner, false});
}

/// What is known of an outage.
store_error session::unavailable() const {
    store_error error{errc::store_unavailable};
    if (up_)
        error.text = "the store does not answer";
    else if (!connection_error_.code)
        error.text = "there is no connection yet";
    else if (connection_error_.code != error.code)
        error.text =
            connection_error_.code.message() + (connection_error_.text.empty() ? "" : ": " + connection_error_.text);
    else
        error.text = connection_error_.text.empty() ? "the connection is broken" : connection_error_.text;
    return error;
}

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

/// Leaves everything. The records stay until the store confirms that: on another connection they are left again.
operation session::close(client_time now, client_duration wait, operation_owner owner) {
    const operation made = begin(now, {asks::closing, later(now, wait), std::move(owner)});
    if (closed_) {
        finish(made, {}, {}, *closed_);
        return made;
    }
    if (std::exchange(closing_, true)) return made;
    presented_.reset();
    send_operations(now);  // those that were not sent never will be
    end_requests(now);
    for (auto& [number, request] : requests_) {
        if (request.phase != phase::lost) continue;
        request.phase = phase::leaving;  // cleanly, by `close` itself
        set_alarm(request);
    }
    if (up_ && opened_)
        say_goodbye(now);
    else if (requests_.empty())
        end(true);
    else if (!up_)
        act(reset_connection{});  // the next regular attempt may come after the caller has stopped waiting
    else if (open_at_)
        open_at_ = std::min(*open_at_, now + close_again);  // the store could not take the last `open`
    return made;
}

void session::say_goodbye(client_time now) {
    transmit(now, kind::close, 0, protocol::close{id_, protocol::closing::left});
}

void session::end(bool confirmed) {
    closed_ = confirmed;
    while (!requests_.empty()) forget(requests_.begin()->second, confirmed);
    answer_others();
    finish_all(asks::closing, {}, confirmed);
}

void session::answer_all() {
    answer_others();
    finish_all(asks::closing, {errc::closed});
}

}  // namespace baton::detail
