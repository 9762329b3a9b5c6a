// A call changes only the space's keys and the library's witness of the space. A server whose library has served other
// spaces, malformed arguments and calls that failed halfway gives exactly the same replies as a server whose library is
// loaded anew for nearly every call.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "epoch_error.hpp"
#include "library_side.hpp"
#include "private_server.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

std::string digits(std::uint64_t number) {
    const std::string text = std::to_string(number);
    return std::string(16 - text.size(), '0') + text;
}

/// Draws calls of every verb on one space. The draws depend only on the seed and on the replies.
class caller {
public:
    caller(std::string space, std::uint64_t seed) : space_{std::move(space)}, dice_{seed} {
        for (std::uint64_t i = 1; i <= 5; ++i) sessions_.push_back({{seed, i}});
    }

    /// Draws every verb at least twice, in random order, and begins again when all are drawn.
    function_call next() {
        if (deck_.empty()) {
            for (int i = 0; i <= static_cast<int>(verb::inspect); ++i)
                deck_.insert(deck_.end(), 2, static_cast<verb>(i));
            deck_.insert(deck_.end(), 12, verb::enter);
            deck_.insert(deck_.end(), 6, verb::leave);
            deck_.insert(deck_.end(), 6, verb::open);
            for (std::size_t i = deck_.size(); i > 1; --i) std::swap(deck_[i - 1], deck_[below(i)]);
        }
        const verb verb = epoch_ == 0 ? verb::hello : deck_.back();
        deck_.pop_back();
        move_clock();
        function_call call = call_of_verb(verb);
        begins_step_ = !only_reads(verb);
        if (below(20) == 0) {
            begins_step_ = false;  // without its last arguments, or with one that no encoder writes
            call.arguments = {digits(epoch_)};
            if (below(2) == 0) call.arguments.add("nonsense");
        }
        call.arguments.add("100");  // ended ids that are kept
        call.arguments.add("3");    // the budget
        call.arguments.add(digits(now_));
        return call;
    }
    void hear(const resp::value& answer) {
        if (answer.kind == resp::kind::error) {
            if (const auto found = epoch_in(answer.text)) epoch_ = *found;
            return;
        }
        const auto reply = decode_reply(answer.text, {1, 1});
        if (!reply) return;
        epoch_ = reply->head.epoch;
        for (const event& each : reply->events) {
            if (const auto* is = std::get_if<granted>(&each.what)) tickets_.push_back(is->ticket);
            if (const auto* is = std::get_if<queued>(&each.what)) tickets_.push_back(is->ticket);
        }
    }
    void forget() { epoch_ = 0; }
    /// The session of the last drawn call.
    [[nodiscard]] std::uint64_t now() const { return now_; }
    [[nodiscard]] bool begins_step() const { return begins_step_; }
    std::uint64_t below(std::uint64_t bound) { return dice_() % bound; }
    [[nodiscard]] const std::string& space() const { return space_; }
    [[nodiscard]] std::string session_field() { return "x" + to_bytes(any_session().id); }

private:
    struct session {
        session_id id;
        std::uint64_t connection_number = 0;
        std::uint64_t number = 0;
    };

    void move_clock() {
        now_ += 1 + below(100'000);
        if (below(30) == 0) now_ += 3'000'000;
        if (below(200) == 0) now_ += 60'000'000;
        if (below(60) == 0) now_ -= 2'000'000;
    }
    session& any_session() { return sessions_[below(sessions_.size())]; }
    std::string any_name() { return std::string(1, static_cast<char>('a' + below(5))); }
    claim any_claim(std::string name) {
        const std::uint64_t kind = below(4);
        if (kind == 0) return {std::move(name), claim_mode::shared, 0, 0};
        if (kind == 1) {
            const auto permits = static_cast<std::uint32_t>(1 + below(3));
            return {std::move(name), claim_mode::permits, permits, 4};
        }
        return {std::move(name), claim_mode::exclusive, 0, 0};
    }
    std::vector<claim> any_claims() {
        std::set<std::string> names{any_name()};
        while (below(3) == 0) names.insert(any_name());
        std::vector<claim> claims;
        for (const std::string& name : names) claims.push_back(any_claim(name));
        return claims;
    }
    serial any_ticket() {
        return tickets_.empty() ? 1 : tickets_[tickets_.size() - 1 - below(std::min<std::size_t>(8, tickets_.size()))];
    }

    command any_open() {
        session& one = any_session();
        open opening{
            one.id, std::chrono::milliseconds{100 + below(4'000)}, "label", ++one.connection_number, one.number, {}};
        for (std::uint64_t i = below(3); i > 0; --i) {
            const claim claim = {any_name(), claim_mode::exclusive, 0, 0};
            const serial ticket = below(2) == 0 ? any_ticket() : now_ + below(10'000'000);
            opening.live.push_back({++one.number, {claim}, ticket, below(2) == 0 ? 0 : ticket + 1, {}, {}});
        }
        return opening;
    }
    command any_enter() {
        session& one = any_session();
        if (below(8) != 0) ++one.number;  // else the same number again
        enter_options options;
        options.nowait = below(8) == 0;
        if (below(6) == 0) options.hold_limit = duration{1'000 + static_cast<std::int64_t>(below(1'000'000))};
        if (below(8) == 0) options.queue_bound = below(3);
        return enter{{one.id, one.number}, any_claims(), options};
    }
    command any_leave() {
        const session& one = any_session();
        return leave{{one.id, one.number - std::min(one.number, below(4))}, static_cast<release_kind>(below(3))};
    }
    command any_close() {
        session& one = any_session();
        const protocol::close closing{one.id, below(2) == 0 ? closing::left : closing::gone};
        one = {{one.id.high, one.id.low + 5}};
        return closing;
    }
    function_call call_of_verb(verb verb) {
        const auto plain = [this](const command& command) { return call_of(space_, epoch_, command); };
        switch (verb) {
            case verb::hello: return hello_call(space_, {std::chrono::milliseconds{60'000}, {}, false});
            case verb::open: return plain(any_open());
            case verb::enter: return plain(any_enter());
            case verb::leave: return plain(any_leave());
            case verb::renew: {
                const session& one = any_session();
                const std::vector<std::uint64_t> waiting{one.number, one.number + 1};
                return renew_call(space_, epoch_, renew{one.id}, std::span{waiting}.first(below(3)));
            }
            case verb::list: return plain(list{any_session().id, below(3)});
            case verb::close: return plain(any_close());
            case verb::tick: return plain(tick{});
            case verb::revoke: return plain(revoke{any_name(), any_ticket(), "note", below(2) == 0});
            case verb::mend: return plain(mend{any_name()});
            case verb::resize:
                if (below(2) == 0) return plain(resize{any_name(), std::nullopt});
                return plain(resize{any_name(), static_cast<std::uint32_t>(1 + below(3))});
            case verb::pause: return plain(pause{instant{duration{static_cast<std::int64_t>(now_ + below(400'000))}}});
            case verb::look: return look_call(space_);
            case verb::attest: return attest_call(digits(epoch_), std::string(40, '0'));
            case verb::inspect: break;
        }
        if (below(2) == 0) return name_page_call(space_, epoch_, any_name(), "0", {2});
        return space_page_call(space_, epoch_, "", "0", {1'000});
    }

    const std::string space_;
    std::mt19937_64 dice_;
    std::vector<session> sessions_;
    std::vector<serial> tickets_;
    std::vector<verb> deck_;
    baton::epoch epoch_ = 0;
    std::uint64_t now_ = 1'000'000'000;
    bool begins_step_ = false;
};

/// A server with the tests' library, in which time and budget are arguments.
class side {
public:
    /// With a viewer, calls publish all events on `events`. The server does not count a pattern as a subscription to
    /// it.
    explicit side(bool has_viewer) : commands_{server_.at().path}, notices_{server_.at().path} {
        std::string out;
        resp::encode_command(out, {"PSUBSCRIBE", prefix_of("compared") + "*"});
        if (has_viewer) resp::encode_command(out, {"SUBSCRIBE", events_channel("compared")});
        notices_.send(out);
        static_cast<void>(notices_.pushed());
        load();
    }
    void load() {
        const function_library& library = timed_library();
        EXPECT_EQ(commands_.ask({"FUNCTION", "LOAD", std::string{library.text}}).text, library.name);
    }
    /// Loads the library before the last drawn call, if that is allowed. A library that has just been loaded has no
    /// witness of the space, so it trusts only data that were written within the last second; it records a witness if
    /// the call begins a step.
    void load_anew(const caller& calls) {
        const std::string head = ask({"HGET", prefix_of("compared") + "m", ""}).text;
        const std::uint64_t noted = head.size() < 80 ? calls.now() : std::stoull(head.substr(48, 16));
        if (!calls.begins_step() || calls.now() < noted || calls.now() > noted + 1'000'000) return;
        ++loaded;
        commands_.ask({"FUNCTION", "FLUSH"});
        load();
    }
    resp::value play(const function_call& call) {
        std::string out;
        encode(out, call, timed_library());
        commands_.send(out);
        return commands_.answer();
    }
    resp::value ask(const std::vector<std::string>& words) { return commands_.ask(words); }
    int loaded = 0;  // how often the library was loaded anew

    /// The messages of the compared space since the last call.
    std::vector<std::string> published() {
        std::vector<std::string> all;
        for (const resp::value& message : notices_.pushed()) all.push_back(text_of(message));
        return all;
    }
    /// All keys of the compared space with their contents, without the replication id, which differs between servers.
    std::map<std::string, std::multiset<std::string>> contents() {
        std::map<std::string, std::multiset<std::string>> all;
        for (const resp::value& key : ask({"KEYS", prefix_of("compared") + "*"}).items) {
            const std::string type = ask({"TYPE", key.text}).text;
            const resp::value parts = type == "hash"   ? ask({"HGETALL", key.text})
                                      : type == "list" ? ask({"LRANGE", key.text, "0", "-1"})
                                                       : ask({"ZRANGE", key.text, "0", "-1", "WITHSCORES"});
            auto& content = all[key.text + " " + type];
            std::size_t width = type == "hash" ? 2 : 1;  // in RESP3 a member and its score are one item
            for (std::size_t i = 0; i + width <= parts.items.size(); i += width) {
                if (parts.items[i].text == "replid" || parts.items[i].text == "run_id") continue;
                content.insert(text_of(parts.items[i]) + (width == 2 ? " = " + text_of(parts.items[i + 1]) : ""));
            }
        }
        return all;
    }
    static std::string text_of(const resp::value& value) {
        std::string text =
            std::to_string(static_cast<int>(value.kind)) + ' ' + value.text + ' ' + std::to_string(value.number);
        for (const resp::value& item : value.items) text += " [" + text_of(item) + "]";
        return text;
    }
    /// Sorts a page, because each server lists the names of a space in its own order.
    static std::string reply_text(const resp::value& answer) {
        if (answer.items.size() <= 3) return text_of(answer);
        std::vector<std::string> parts;
        for (const resp::value& item : answer.items) parts.push_back(text_of(item));
        std::sort(parts.begin() + 3, parts.end());
        std::string text;
        for (const std::string& part : parts) text += '[' + part + ']';
        return text;
    }

private:
    redis_tests::private_server server_;
    server_connection commands_;
    server_connection notices_;
};

/// Calls on other spaces of the same server. One of them has keys of wrong types, so that calls there fail, some of
/// them after their first write.
class disturbance {
public:
    explicit disturbance(std::uint64_t seed) : sound_{"other", seed}, spoilt_{"spoilt", seed + 1} {}

    void act(side& at) {
        if (spoilt_.below(2) == 0) {
            const resp::value answer = at.play(sound_.next());
            sound_.hear(answer);
            if (answer.text.starts_with("BATONARGS")) ++malformed;
            return;
        }
        if (spoilt_.below(4) == 0) spoil(at);
        const resp::value answer = at.play(spoilt_.next());
        spoilt_.hear(answer);
        if (answer.text.starts_with("WRONGTYPE") || answer.text.find("script: ") != std::string::npos) ++raised;
        if (spoilt_.below(16) == 0) heal(at);
    }

    int raised = 0;
    int malformed = 0;

private:
    void spoil(side& at) {
        const std::string prefix = prefix_of(spoilt_.space());
        const std::vector<std::string> keys{"q:a", "q:b", "a:c", "marks", "limits", "t",
                                            "c",   "o",   "e",   "d",     "i",      "w:b"};
        const std::vector<std::string> fields{"na", "nb", spoilt_.session_field()};
        if (spoilt_.below(3) == 0)
            at.ask({"HSET", prefix + "m", fields[spoilt_.below(fields.size())], "nonsense"});
        else
            at.ask({"SET", prefix + keys[spoilt_.below(keys.size())], "nonsense"});
    }
    void heal(side& at) {
        for (const resp::value& key : at.ask({"KEYS", prefix_of(spoilt_.space()) + "*"}).items)
            at.ask({"DEL", key.text});
        spoilt_.forget();
    }

    caller sound_;
    caller spoilt_;
};

TEST(LibraryState, NoCallLeavesAnythingInTheLibrarysMemory) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const bool has_viewer = seed % 2 == 0;
        side used{has_viewer};
        side fresh{has_viewer};
        disturbance others{100 * seed};
        for (int i = 0; i < 200; ++i) others.act(used);
        caller calls{"compared", seed};
        std::map<verb, int> served;
        std::map<verb, int> refused;
        for (int i = 0; i < 300; ++i) {
            const function_call call = calls.next();
            others.act(used);
            fresh.load_anew(calls);
            const resp::value answer = fresh.play(call);
            ASSERT_EQ(side::reply_text(used.play(call)), side::reply_text(answer)) << i << ": " << name_of(call.verb);
            ASSERT_EQ(used.published(), fresh.published()) << i << ": " << name_of(call.verb);
            ++(answer.kind == resp::kind::error ? refused : served)[call.verb];
            calls.hear(answer);
        }
        EXPECT_EQ(used.contents(), fresh.contents());
        EXPECT_GE(fresh.loaded, 200);
        for (int i = 0; i <= static_cast<int>(verb::inspect); ++i)
            EXPECT_GE(served[static_cast<verb>(i)], 2) << name_of(static_cast<verb>(i));
        EXPECT_GE(others.raised, 20) << "calls failed halfway";
        EXPECT_GE(others.malformed, 5);
    }
}

}  // namespace
}  // namespace baton::redis
