#include "library_side.hpp"

#include <array>
#include <stdexcept>

#include "engine/engine_host.hpp"
#include "protocol/wait_graph.hpp"
#include "stores/redis/inspect_pages.hpp"

namespace baton::redis {
namespace {

constexpr page_size everything{1'000'000};  // a snapshot in one page shows one moment

std::string digits(std::uint64_t number, std::size_t width = 16) {
    std::string text = std::to_string(number);
    return std::string(width - text.size(), '0') + text;
}

core::session_id from_bytes(std::string_view bytes) {
    core::session_id id;
    for (std::size_t i = 0; i < 16; ++i) {
        std::uint64_t& half = i < 8 ? id.high : id.low;
        half = half << 8U | static_cast<unsigned char>(bytes[i]);
    }
    return id;
}

}  // namespace

library_side::library_side(const std::string& socket, std::string text)
    : text_{std::move(text)}, commands_{socket}, notices_{socket} {
    if (!text_.empty()) library_.text = text_;
    const resp::value loaded = commands_.ask({"FUNCTION", "LOAD", std::string{library_.text}});
    if (loaded.text != library_.name) throw std::runtime_error("FUNCTION LOAD: " + loaded.text);
    std::string out;
    resp::encode_command(out, {"PSUBSCRIBE", prefix_of(space_) + "wake:*"});
    notices_.send(out);
    (void)notices_.pushed();
}

void library_side::start(const core::engine_options& options) {
    options_ = options;
    commands_.ask({"FLUSHALL"});
    watches_ = !watches_;
    std::string subscription;
    resp::encode_command(subscription, {watches_ ? "SUBSCRIBE" : "UNSUBSCRIBE", events_channel(space_)});
    notices_.send(subscription);
    (void)notices_.pushed();  // `hello` finds the viewer, and the tests' clock makes no call look again
    function_call hello = hello_call(space_, {options.max_ttl, std::chrono::milliseconds{0}, false});
    add_time(hello, core::instant{core::duration{1}});
    std::string out;
    encode(out, hello, library_);
    commands_.send(out);
    const resp::value answer = commands_.answer();
    const auto decoded = decode_reply(answer.text, {});
    if (!decoded) throw std::runtime_error("hello: " + answer.text);
    epoch_ = decoded->head.epoch;
    waiting_.clear();
}

void library_side::add_time(function_call& call, core::instant at) const {
    constexpr std::uint64_t no_bound = 1'000'000'000;
    call.arguments.add(std::to_string(options_.ended_ids));
    call.arguments.add(std::to_string(options_.budget ? *options_.budget : no_bound));
    call.arguments.add(digits(static_cast<std::uint64_t>(at.time_since_epoch().count())));
}

library_side::result library_side::apply(const core::command& command, core::instant at) {
    result result;
    if (watches_) result.watched.emplace();
    const core::session_id sender = core::sender_of(command);
    const auto* renewal = std::get_if<core::renew>(&command);
    function_call call = renewal == nullptr ? call_of(space_, epoch_, command)
                                            : renew_call(space_, epoch_, *renewal, waiting_[sender].oldest());
    add_time(call, at);
    std::string out;
    encode(out, call, library_);
    const bool inspects = ++applied_ % inspect_every_ == 0;
    if (inspects) {
        function_call page = space_page_call(space_, epoch_, "", "0", everything);
        add_time(page, at);
        encode(out, page, library_);
    }
    commands_.send(out);
    const resp::value answer = commands_.answer();
    if (auto decoded = decode_reply(answer.text, sender); decoded && answer.kind == resp::kind::bulk) {
        waiting_[sender].note(*decoded);
        result.reply = std::move(*decoded);
    } else
        result.error = std::string{name_of(call.verb)} + ": " + answer.text;
    if (inspects) inspect(result);
    take_notices(result);
    return result;
}

void library_side::inspect(result& result) {
    inspect_pages pages;
    const resp::value page = commands_.answer();
    if (pages.add(page) != "0" && result.error.empty()) result.error = "inspect: " + page.text;
    result.state = pages.take();
    protocol::explain(*result.state);
}

void library_side::take_notices(result& result) {
    for (const resp::value& message : notices_.pushed()) {
        if (message.items.size() == 3 && message.items[0].text == "message") {  // message channel payload
            const auto seen = decode_watched(message.items[2].text);
            if (!seen || !result.watched) result.error = "the viewers' channel got: " + message.items[2].text;
            if (!result.error.empty()) return;
            for (const auto& [alias, event] : seen->events) result.watched->push_back(event);
            continue;
        }
        if (message.items.size() != 4) continue;  // pmessage pattern channel payload
        const core::session_id session = from_bytes(message.items[2].text.substr(message.items[2].text.size() - 16));
        const auto decoded = decode_reply(message.items[3].text, session);
        if (!decoded) {
            result.error = "a notice that cannot be read: " + message.items[3].text;
            return;
        }
        waiting_[session].note(*decoded);
        auto& events = result.notices[session];
        events.insert(events.end(), decoded->events.begin(), decoded->events.end());
    }
}

std::vector<std::string> library_side::remains() {
    std::vector<std::string> found;
    const std::string prefix = prefix_of(space_);
    for (const resp::value& key : commands_.ask({"KEYS", "*"}).items)
        if (key.text != prefix + "m" && key.text != prefix + "i" && key.text != prefix + "d") found.push_back(key.text);
    if (commands_.ask({"ZCARD", prefix + "d"}).number != 1) found.emplace_back("deadlines");
    for (const resp::value& field : commands_.ask({"HKEYS", prefix + "m"}).items)
        if (!field.text.empty()) found.push_back("m " + field.text);
    return found;
}

}  // namespace baton::redis
