/// The adapter for Asio: `client.async_acquire(claims, [options,] token)` with any completion token for
/// void(std::error_code, baton::lease). The handler runs on its associated executor, never within the call; work is
/// outstanding there until it has run. Cancellation withdraws the request, and the handler hears operation_aborted; if
/// the grant came first, it hears of that. Needs standalone Asio 1.22 or newer, whichever the program has.
#pragma once

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>
#include <asio/system_executor.hpp>

#include <memory>
#include <stop_token>
#include <utility>

#include "baton/client.hpp"

namespace baton::detail {

template <typename Handler>
void acquire_for(client client, const claims& claims, const acquire_options& options, Handler handler) {
    auto executor = asio::prefer(asio::get_associated_executor(handler, asio::system_executor{}),
                                 asio::execution::outstanding_work.tracked);
    std::stop_source stop{std::nostopstate};
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        stop = std::stop_source{};
        slot.assign([stop](asio::cancellation_type type) mutable {
            if (type != asio::cancellation_type::none) stop.request_stop();
        });
    }
    auto token = stop.get_token();
    auto shared = std::make_shared<Handler>(std::move(handler));
    client.async_acquire(claims, options, std::move(token),
                         [executor = std::move(executor), shared](std::error_code error, lease lease) mutable {
                             if (error == std::errc::operation_canceled) error = asio::error::operation_aborted;
                             auto finish = [shared = std::move(shared), error, lease = std::move(lease)]() mutable {
                                 asio::get_associated_cancellation_slot(*shared).clear();
                                 Handler last = std::move(*shared);
                                 shared.reset();
                                 std::move(last)(error, std::move(lease));
                             };
                             asio::post(executor, std::move(finish));
                         });
}

template <typename Token> struct completion {
    template <typename Given>
    static auto start(client& client, const claims& claims, const acquire_options& options, Given&& token) {
        const auto initiate = [client](auto&& handler, const baton::claims& wanted, const acquire_options& how) {
            acquire_for(client, wanted, how, std::forward<decltype(handler)>(handler));
        };
        return asio::async_initiate<Given, void(std::error_code, lease)>(initiate, token, claims, options);
    }
};

}  // namespace baton::detail
