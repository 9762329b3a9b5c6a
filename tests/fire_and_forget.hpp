// The type of a test's coroutine that starts at once and destroys itself at its end. An exception ends the program.
#pragma once

#include <coroutine>
#include <exception>

namespace baton {

struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

}  // namespace baton
