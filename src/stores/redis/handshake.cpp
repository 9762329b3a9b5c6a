#include "stores/redis/handshake.hpp"

#include "baton/error.hpp"
#include "stores/redis/function_reply.hpp"
#include "stores/redis/missing_rights.hpp"
#include "stores/redis/refusals.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::redis {
namespace {

void choose_database(std::string& out, unsigned db) { resp::encode_command(out, {"SELECT", std::to_string(db)}); }

void ask_for_scripts(std::string& out, std::span<const script_text> scripts) {
    resp::writer write{out};
    write.array(2 + scripts.size());
    write.bulk("SCRIPT");
    write.bulk("EXISTS");
    for (const script_text& script : scripts) write.bulk(script.sha1);
}

void load_script(std::string& out, const script_text& script) {
    resp::encode_command(out, {"SCRIPT", "LOAD", script.text});
}

void load_library(std::string& out, const function_library& library) {
    // Without REPLACE, which would clear the library's memory while other clients use it.
    resp::encode_command(out, {"FUNCTION", "LOAD", library.text});
}

/// The mode of the server, in its reply to HELLO: standalone, sentinel or cluster.
std::string_view mode_in(const resp::value& hello) {
    for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2)
        if (hello.items[i].text == "mode") return hello.items[i + 1].text;
    return {};
}

/// `text` is the reply, or the part of it that begins like a reply.
resp::handshake_step read_epoch(const detail::redis_address& address, const resp::value& answer, std::string_view text,
                                epoch least) {
    if (answer.kind == resp::kind::error) return refused(address, {origin::reply, answer.text});
    const auto heard = decode_reply(text, {});
    if (!heard || heard->head.epoch < least)
        return {.error = {make_error_code(std::errc::protocol_error), "the reply is not understood"}};
    return {.epoch = heard->head.epoch};
}

}  // namespace

void say_hello(std::string& out, const detail::redis_address& address) {
    if (address.password.empty()) return resp::encode_command(out, {"HELLO", "3"});
    const std::string_view user = address.user.empty() ? std::string_view{"default"} : address.user;
    resp::encode_command(out, {"HELLO", "3", "AUTH", user, address.password});
}

handshake::handshake(const detail::redis_address& address, std::span<const script_text> scripts, std::string last_words,
                     reading read_last)
    : address_{address},
      scripts_{scripts},
      last_words_{[last_words = std::move(last_words)](bool /*in_cluster*/) { return last_words; }},
      read_last_{std::move(read_last)} {}

handshake::handshake(const detail::redis_address& address, const function_library& library, words last_words,
                     reading read_last, words viewing_words, reading read_viewing)
    : address_{address},
      library_{&library},
      last_words_{std::move(last_words)},
      read_last_{std::move(read_last)},
      viewing_words_{std::move(viewing_words)},
      read_viewing_{std::move(read_viewing)} {}

resp::handshake_step handshake::begin() {
    library_loaded_ = false;
    return say(step::protocol);
}

resp::handshake_step handshake::say(step next) {
    resp::handshake_step said;
    step_ = next;
    switch (next) {
        case step::protocol: say_hello(said.send, address_); break;
        case step::database: choose_database(said.send, address_.db); break;
        case step::known_scripts: ask_for_scripts(said.send, scripts_); break;
        case step::script: load_script(said.send, *missing_.back()); break;
        case step::library: load_library(said.send, *library_); break;
        case step::last: said.send = last_words_(in_cluster_); break;
        case step::viewing: said.send = viewing_words_(in_cluster_); break;
    }
    return said;
}

resp::handshake_step handshake::answered(const resp::value& answer) {
    resp::handshake_step next = next_step(answer);
    // The password file may change before the next attempt.
    if (next.error.code == errc::not_permitted && !address_.password_file.empty()) next.permanent = false;
    return next;
}

resp::handshake_step handshake::next_step(const resp::value& answer) {
    if (step_ == step::last) return answered_last(answer);
    if (step_ == step::viewing) return answered_viewing(answer);
    if (step_ == step::library) return answered_library(answer);
    if (answer.kind == resp::kind::error) return refused(address_, {origin::reply, answer.text});
    switch (step_) {
        case step::protocol:
            in_cluster_ = mode_in(answer) == "cluster";
            if (!address_.cluster.empty() && !in_cluster_)
                return refused(address_, {origin::no_cluster, mode_in(answer)});
            if (const symptom seen{origin::mode, mode_in(answer)}; find_refusal(seen)) return refused(address_, seen);
            return address_.db != 0 ? say(step::database) : ask_for_known();
        case step::database: return ask_for_known();
        case step::known_scripts:
            missing_.clear();
            for (std::size_t i = 0; i < answer.items.size() && i < scripts_.size(); ++i)
                if (answer.items[i].number == 0) missing_.push_back(&scripts_[i]);
            return next_script();
        case step::script: missing_.pop_back(); return next_script();
        case step::library:
        case step::last:
        case step::viewing: break;
    }
    return {};
}

resp::handshake_step handshake::answered_last(const resp::value& answer) {
    const bool is_error = answer.kind == resp::kind::error;
    if (library_ == nullptr || !is_error) return read_last_(answer);
    const detail::reply_class what = detail::classify(answer.text);
    if (what == detail::reply_class::no_function && !library_loaded_) return say(step::library);
    if (forbids_command(answer.text, "fcall")) {
        denied_ = answer.text;
        resp::handshake_step look = say(step::viewing);
        if (!look.send.empty()) return look;
        step_ = step::last;
    }
    return read_last_(answer);
}

/// If the user may run neither FCALL nor FCALL_RO, the error of FCALL is reported: most users want to acquire.
resp::handshake_step handshake::answered_viewing(const resp::value& answer) {
    if (answer.kind != resp::kind::error) return read_viewing_(answer);
    if (detail::classify(answer.text) == detail::reply_class::no_function && !library_loaded_)
        return say(step::library);
    if (forbids_command(answer.text, "fcall_ro")) return refused(address_, {origin::reply, denied_});
    return read_viewing_(answer);
}

resp::handshake_step handshake::answered_library(const resp::value& answer) {
    const bool another_was_first = answer.text.find("already exists") != std::string_view::npos;
    if (answer.kind == resp::kind::error && !another_was_first)
        return refused(address_, {denied_.empty() ? origin::library : origin::viewers_library, answer.text});
    library_loaded_ = true;
    return say(step::last);
}

resp::handshake_step handshake::ask_for_known() { return say(scripts_.empty() ? step::last : step::known_scripts); }

resp::handshake_step handshake::next_script() { return say(missing_.empty() ? step::last : step::script); }

handshake native_handshake(const detail::redis_address& address, std::function<known_history()> known,
                           std::function<bool()> may_view, std::function<std::string()> attested) {
    handshake::words hello = [&address, known = std::move(known), attested = std::move(attested)](bool in_cluster) {
        std::string words;
        const space_terms terms{address.max_ttl, address.lag, address.pause};
        encode(words, hello_call({address.space, in_cluster}, terms, known(), attested()));
        return words;
    };
    handshake::reading read_hello = [&address](const resp::value& answer) {
        return read_epoch(address, answer, answer.text, 1);
    };
    handshake::words look = [&address, may_view = std::move(may_view)](bool in_cluster) {
        std::string words;
        if (may_view()) encode(words, look_call({address.space, in_cluster}));
        return words;
    };
    handshake::reading read_look = [&address](const resp::value& answer) {  // without a space the epoch is 0
        return read_epoch(address, answer, answer.items.empty() ? std::string_view{} : answer.items[0].text, 0);
    };
    return {address, server_library(), std::move(hello), std::move(read_hello), std::move(look), std::move(read_look)};
}

}  // namespace baton::redis
