// bsm/redislock and redsync as peers: peer KIND redis://HOST:PORT/DB, in any order; the lines as in ../README.md.
// KIND: redislock, redsync (on one server). Both poll and neither renews; one name at a time, no permits. Commands run
// in the main goroutine; another one reads, so that the end of stdin ends us even while we wait.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"
)

const expiry = 10 * time.Second

var (
	errUnsupported = errors.New("unsupported")
	permits        = regexp.MustCompile(`:\d+/\d+$`)
)

// Waits for a lock and returns the function that releases it.
type take func(name string) (release func() error, err error)

type library struct {
	module, polls string
	connect       func(*redis.Client) take
}

var libraries = map[string]library{
	// It has no default interval; the example in its documentation retries every 100 ms.
	"redislock": {"github.com/bsm/redislock", "polls-100ms", func(server *redis.Client) take {
		locker := redislock.New(server)
		options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
		return func(name string) (func() error, error) {
			// Without a deadline it would give up after the expiry.
			ctx, cancel := context.WithTimeout(context.Background(), math.MaxInt64)
			defer cancel()
			lock, err := locker.Obtain(ctx, name, expiry, options)
			return func() error { return lock.Release(context.Background()) }, err
		}
	}},
	"redsync": {"github.com/go-redsync/redsync/v4", "polls-50..250ms", func(server *redis.Client) take {
		sync := redsync.New(goredis.NewPool(server))
		return func(name string) (func() error, error) {
			mutex := sync.NewMutex(name, redsync.WithExpiry(expiry), redsync.WithTries(math.MaxInt))
			return func() error { _, err := mutex.Unlock(); return err }, mutex.Lock()
		}
	}},
}

type peer struct {
	take            take
	release         func() error // of what is held, or nil
	asked, acquired int64
	holds           []string // for the next report
}

// Reads CLOCK_MONOTONIC, which package time does not expose.
func now() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

func (p *peer) obey(words []string) (string, error) {
	command, words := words[0], words[1:]
	if p.release != nil && (command == "acquire" || command == "cycle") {
		return "", errors.New("already holding")
	}
	switch command {
	case "acquire":
		err := p.acquire(words...)
		return fmt.Sprint("acquired ", p.acquired), err
	case "release":
		if p.release == nil {
			return "", errors.New("not holding")
		}
		times, err := p.letGo()
		return "released " + times, err
	case "cycle":
		if len(words) != 3 {
			return "", errors.New("cycle NAME SECONDS HOLD_US")
		}
		seconds, _ := strconv.ParseFloat(words[1], 64)
		hold, _ := strconv.Atoi(words[2])
		n, err := p.cycle(words[0], seconds, time.Duration(hold)*time.Microsecond)
		return fmt.Sprint("cycled ", n), err
	case "report":
		report := strings.Join(append(p.holds, "end"), "\n")
		p.holds = nil
		return report, nil
	}
	return "", errors.New("unknown " + command)
}

func (p *peer) acquire(names ...string) error {
	if len(names) != 1 || permits.MatchString(names[0]) {
		return errUnsupported
	}
	p.asked = now()
	release, err := p.take(names[0])
	p.acquired = now()
	if err == nil {
		p.release = release
	}
	return err
}

func (p *peer) letGo() (string, error) {
	release := p.release
	p.release = nil
	releasing := now()
	err := release()
	released := now()
	if err == nil {
		p.holds = append(p.holds, fmt.Sprint(p.asked, p.acquired, releasing, released))
	}
	return fmt.Sprint(releasing, released), err
}

func (p *peer) cycle(name string, seconds float64, hold time.Duration) (n int, err error) {
	for end := now() + int64(seconds*1e9); now() < end && err == nil; n++ {
		if err = p.acquire(name); err == nil {
			time.Sleep(hold)
			_, err = p.letGo()
		}
	}
	return n, err
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "?"
}

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

func main() {
	var kind, address string
	for _, word := range os.Args[1:] {
		if strings.Contains(word, "://") {
			address = word
		} else {
			kind = word
		}
	}
	library, known := libraries[kind]
	options, err := redis.ParseURL(address)
	if err != nil || !known {
		fail(fmt.Sprint("unknown kind or address: ", kind, " ", err))
	}
	server := redis.NewClient(options)
	if err := server.Ping(context.Background()).Err(); err != nil {
		fail(err)
	}
	p := &peer{take: library.connect(server)}
	fmt.Println("ready", kind, version(library.module), library.polls)

	lines := make(chan []string, 100)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if words := strings.Fields(in.Text()); len(words) > 0 {
				lines <- words
			}
		}
		os.Exit(0)
	}()
	for words := range lines {
		if words[0] == "quit" {
			return
		}
		answer, err := p.obey(words)
		if err != nil {
			answer = strings.Join(strings.Fields("failed "+err.Error()), " ")
		}
		fmt.Println(answer)
	}
}
