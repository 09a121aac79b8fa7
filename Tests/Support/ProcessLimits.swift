import Foundation

/// Limits of a test program's process, which the kernel enforces at any point of its code.
public enum ProcessLimits {
    /// Ends the process after this much processor time, like any signal that nobody catches. Zero or less means never.
    public static func killAfter(microseconds: Int) {
        guard microseconds > 0 else { return }
        var timer = itimerval()
        timer.it_value.tv_sec = .init(microseconds / 1_000_000)
        timer.it_value.tv_usec = .init(microseconds % 1_000_000)
        #if os(Linux)
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
        #else
        setitimer(ITIMER_PROF, &timer, nil)
        #endif
    }

    /// From now on, a write past this length fails, in any file.
    public static func limitFiles(to length: UInt) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: .init(length), rlim_max: .init(length))
        #if os(Linux)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
        setrlimit(RLIMIT_FSIZE, &limit)
        #endif
    }
    /// Gives up the rights of root, for which nothing is read-only. If the account without rights can't write to the temporary
    /// directory, the system's own takes its place. Returns whether both worked.
    public static func giveUpRoot() -> Bool {
        guard geteuid() == 0 else { return true }
        guard setegid(65_534) == 0, seteuid(65_534) == 0 else { return false }
        return isTemporaryDirectoryWritable || setenv("TMPDIR", "/tmp", 1) == 0 && isTemporaryDirectoryWritable
    }

    private static var isTemporaryDirectoryWritable: Bool {
        guard let folder = try? TemporaryFolder() else { return false }
        return withExtendedLifetime(folder) { true }
    }
}
