#if os(Linux)
import Foundation

/// This process's use of the system's resources, for tests that look for leaks. These tests run as exit tests,
/// because other tests in the same process would be counted, too.
public enum OwnProcess {
    /// The number of threads with a name. Linux keeps the first 15 bytes of a name.
    public static func threads(named name: String) -> Int {
        threadNames.count { $0 == name.prefix(15) }
    }

    /// The names of all threads of this process, except those that have ended and are still listed.
    public static var threadNames: [String] {
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return ids.compactMap { id in
            guard let line = text("/proc/self/task/\(id)/stat"), let start = line.firstIndex(of: "("),
                let end = line.lastIndex(of: ")"), let flags = Int(line[end...].split(separator: " ")[7])
            else { return nil }
            let isExiting = flags & 4 != 0  // PF_EXITING
            return isExiting ? nil : String(line[line.index(after: start)..<end])
        }
    }

    /// The number of open descriptors.
    public static var descriptors: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
    }

    /// The number of sockets and pipes, the only descriptors that a server opens. The system's libraries open and close
    /// others.
    public static var socketsAndPipes: Int {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return all.count { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target?.hasPrefix("socket:") == true || target?.hasPrefix("pipe:") == true
        }
    }

    /// The resident memory, in bytes.
    public static var memory: Int { status("VmRSS") }

    /// The peak of the resident memory since the process started or since ``forgetPeak()``, in bytes.
    public static var peakMemory: Int { status("VmHWM") }

    /// Resets ``peakMemory`` to the memory in use now.
    public static func forgetPeak() { try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }

    /// Waits until a condition on the process's resources is true. Nothing tells a process that the system has removed a
    /// thread or a descriptor, so this asks every millisecond.
    public static func reaches(_ condition: @escaping @Sendable () -> Bool) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while !condition() { usleep(1_000) }
                continuation.resume()
            }
        }
    }

    private static func status(_ field: String) -> Int {
        let line = text("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
