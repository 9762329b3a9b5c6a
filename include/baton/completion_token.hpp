/// Distinguishes the last argument of an asynchronous call: a callback, or a completion token of Asio. A call means the
/// same with and without <baton/asio.hpp>: a token without that header does not compile.
#pragma once

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace baton::detail {

template <typename Token> struct completion;  // <baton/asio.hpp> defines it
template <typename Token>
concept has_completion = requires { sizeof(completion<std::decay_t<Token>>); };

/// A function without an associated executor, cancellation slot or allocator.
template <typename Function, typename... Results>
concept plain_callback = std::invocable<std::decay_t<Function>, Results...> &&
                         !requires { typename std::decay_t<Function>::executor_type; } &&
                         !requires { typename std::decay_t<Function>::cancellation_slot_type; } &&
                         !requires { typename std::decay_t<Function>::allocator_type; };

template <typename Token, typename... Results>
concept completion_token = !plain_callback<Token, Results...> && !std::convertible_to<Token, std::stop_token>;

/// `begin(stop, done)` starts the operation, which calls `done` once with the results. A stop request cancels it if the
/// operation supports cancellation.
template <typename... Results, typename Begin, typename Token> auto start_with_token(Begin begin, Token&& token) {
    static_assert(has_completion<Token>, "for completion tokens, #include <baton/asio.hpp>");
    if constexpr (has_completion<Token>)
        return completion<std::decay_t<Token>>::template start<Results...>(std::move(begin),
                                                                           std::forward<Token>(token));
}

}  // namespace baton::detail
