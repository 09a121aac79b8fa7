#if os(Linux)
public import Foundation

/// A disk in memory that is soon full.
public enum SmallDisk {
    /// Whether the tests of a full disk run: yes where this process may mount, and always in CI, so that they fail there
    /// instead of being skipped.
    public static func mustRun() async throws -> Bool {
        if ProcessInfo.processInfo.environment["CI"] != nil { return true }
        guard geteuid() == 0 else { return false }
        let folder = try TemporaryFolder()
        guard try await mount(kilobytes: 4, at: folder.url).status == 0 else { return false }
        return try await unmount(at: folder.url) == 0
    }

    /// Covers a folder with an empty disk.
    public static func mount(kilobytes: Int, at folder: URL) async throws -> Command.Result {
        try await Command.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path])
    }

    /// Changes the size of a disk. Its files stay.
    public static func resize(to kilobytes: Int, at folder: URL) async throws -> Int32 {
        try await Command.run("/bin/mount", ["-o", "remount,size=\(kilobytes)k", folder.path]).status
    }

    /// Removes a disk with its files. Tries for up to 30 seconds, because a file may still be closed on another thread.
    public static func unmount(at folder: URL) async throws -> Int32 {
        let end = ContinuousClock.now.advanced(by: .seconds(30))
        while true {
            let status = try await Command.run("/bin/umount", [folder.path]).status
            if status == 0 || .now >= end { return status }
        }
    }
}
#endif
