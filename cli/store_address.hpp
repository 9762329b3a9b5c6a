// The address of the store and the space there, from the options or the environment, and the clients for them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "baton/client.hpp"
#include "program/backup_renewer.hpp"
#include "program/store_url.hpp"

namespace baton::cli {

struct store_address {
    std::string url;    // in canonical form
    std::string space;  // empty: the space that the address names

    friend bool operator==(const store_address&, const store_address&) = default;
};

/// Empty arguments are replaced by BATON_URL and BATON_SPACE. Throws `failure` (usage; configuration for an invalid
/// address).
[[nodiscard]] store_address make_address(std::string url, std::string space);

/// The address including the space.
[[nodiscard]] std::string address_of(const store_address& address);
/// The same without credentials, for messages and comparisons: each address and space has one text.
[[nodiscard]] std::string shown(const store_address& address);

/// Describes the agent that `local:` means here: each user and each network namespace has an agent of its own. Empty
/// for all other addresses.
[[nodiscard]] std::string agent_meant(const store_address& address);

/// A reason for the silence of the store, if its address suggests one: text to append, or empty.
[[nodiscard]] std::string silence_hint(const store_address& address);

/// Whether the error is about the store and not about the request: it cannot be reached, or refuses this client.
[[nodiscard]] bool is_about_store(std::error_code error);
/// Throws `failure` for such an error. The message names the address, once.
[[noreturn]] void fail_at(const store_address& address, std::error_code error, const std::string& reason);

/// Throws `failure` (usage) for `memory:`, which no verb but `bench` can use: the locks would end with the verb.
void refuse_memory(std::string_view url);

/// These make the store and the client of a verb. Only `local:` uses the options. They throw `failure`.
[[nodiscard]] std::shared_ptr<store> open_store(const store_address& address, detail::local_options options = {});
[[nodiscard]] client open_client(std::shared_ptr<store> store, const client_options& options = {},
                                 std::shared_ptr<detail::backup_renewer> backup_renewer = nullptr);
[[nodiscard]] client open_client(const store_address& address);
/// Makes the client of a verb that only inspects: it starts no agent. Without an agent its calls fail with
/// errc::no_agent.
[[nodiscard]] client open_inspecting_client(const store_address& address);

/// The function that makes stores; tests replace it.
using store_maker = std::function<std::shared_ptr<store>(std::string_view address, detail::local_options options)>;
[[nodiscard]] store_maker& store_maker_used();

}  // namespace baton::cli
