// Redisson as a peer: java -jar peer.jar KIND redis://HOST:PORT/DB, in any order; the lines as in ../README.md.
// KIND: lock, fair (RLock, kept alive by Redisson's watchdog), multi (RedissonMultiLock, of several names), permits
// (RPermitExpirableSemaphore: its permits expire and are not renewed). "redisson-" may stand before it.
// All of them wait for a message; none polls.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Peer {
    private static final int EXPIRY_SECONDS = 10;
    private static final Pattern PERMITS = Pattern.compile("(.+):(\\d+)/(\\d+)");

    private final RedissonClient redisson;
    private final String kind;
    private final Set<String> limited = new HashSet<>(); // semaphores whose limit we have set
    private final List<String> holds = new ArrayList<>(); // for the next report
    private Runnable release; // of what is held, or null
    private long asked;
    private long acquired;

    private Peer(RedissonClient redisson, String kind) {
        this.redisson = redisson;
        this.kind = kind;
    }

    public static void main(String[] args) throws InterruptedException {
        URI address = Stream.of(args).filter(word -> word.contains("://")).findFirst().map(URI::create).orElseThrow();
        String kind = Stream.of(args).filter(word -> !word.contains("://")).findFirst().orElse("lock")
                .replaceFirst("^redisson-", "");
        if (!Set.of("lock", "fair", "multi", "permits").contains(kind)) {
            System.err.println("unknown kind: " + kind);
            System.exit(64);
        }
        Config config = new Config().setLockWatchdogTimeout(TimeUnit.SECONDS.toMillis(EXPIRY_SECONDS));
        config.useSingleServer()
                .setAddress("redis://" + address.getAuthority())
                .setDatabase(address.getPath().length() > 1 ? Integer.parseInt(address.getPath().substring(1)) : 0);
        Peer peer = new Peer(Redisson.create(config), kind);

        // A Redisson lock belongs to its thread, so one thread works; another reads, to see the end of stdin meanwhile.
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line; (line = in.readLine()) != null;) lines.add(line);
            } catch (java.io.IOException ignored) {
                // Treat a read error as the end of stdin.
            }
            Runtime.getRuntime().halt(0);
        });
        reader.setDaemon(true);
        reader.start();

        PrintStream out = new PrintStream(System.out, false);
        out.println("ready redisson " + Redisson.class.getPackage().getImplementationVersion());
        out.flush();
        while (true) {
            String[] words = lines.take().trim().split("\\s+");
            if (words[0].equals("quit")) Runtime.getRuntime().halt(0);
            String answer;
            try {
                answer = peer.obey(words);
            } catch (Exception e) {
                answer = "failed " + e.toString().replaceAll("\\s+", " ");
            }
            out.println(answer);
            out.flush();
        }
    }

    private String obey(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "acquire":
                if (release != null) return "failed already holding";
                return acquire(Stream.of(words).skip(1).toArray(String[]::new)) ? "acquired " + acquired
                                                                                : "failed unsupported";
            case "release":
                if (release == null) return "failed not holding";
                return "released " + release();
            case "cycle":
                if (release != null) return "failed already holding";
                return cycle(words[1], Double.parseDouble(words[2]), Long.parseLong(words[3]));
            case "report":
                holds.add("end");
                String report = String.join("\n", holds);
                holds.clear();
                return report;
            default:
                return "failed unknown " + words[0];
        }
    }

    private boolean acquire(String... names) throws InterruptedException {
        Matcher permits = PERMITS.matcher(names[0]);
        boolean counted = permits.matches();
        if (names.length > 1 && !kind.equals("multi") || counted && !kind.equals("permits")) return false;

        if (kind.equals("permits")) { // A bare name is one permit of one.
            RPermitExpirableSemaphore semaphore =
                    redisson.getPermitExpirableSemaphore(counted ? permits.group(1) : names[0]);
            int n = counted ? Integer.parseInt(permits.group(2)) : 1;
            // Before the clock starts: users set the limit once, not at every acquisition.
            if (limited.add(semaphore.getName())) {
                semaphore.trySetPermits(counted ? Integer.parseInt(permits.group(3)) : 1);
            }
            asked = System.nanoTime();
            List<String> ids = semaphore.acquire(n, EXPIRY_SECONDS, TimeUnit.SECONDS);
            acquired = System.nanoTime();
            release = () -> semaphore.release(ids);
        } else {
            RLock lock = kind.equals("lock") ? redisson.getLock(names[0])
                    : kind.equals("fair") ? redisson.getFairLock(names[0])
                    : redisson.getMultiLock(Stream.of(names).map(redisson::getLock).toArray(RLock[]::new));
            asked = System.nanoTime();
            lock.lock();
            acquired = System.nanoTime();
            release = lock::unlock;
        }
        return true;
    }

    private String release() {
        Runnable held = release;
        release = null;
        long releasing = System.nanoTime();
        held.run();
        long released = System.nanoTime();
        holds.add(asked + " " + acquired + " " + releasing + " " + released);
        return releasing + " " + released;
    }

    private String cycle(String name, double seconds, long holdMicros) throws InterruptedException {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        int n = 0;
        for (; System.nanoTime() < end; ++n) {
            if (!acquire(name)) return "failed unsupported";
            // Not Thread.sleep: it rounds up to milliseconds.
            for (long left; (left = acquired + holdMicros * 1000 - System.nanoTime()) > 0;) LockSupport.parkNanos(left);
            release();
        }
        return "cycled " + n;
    }
}
