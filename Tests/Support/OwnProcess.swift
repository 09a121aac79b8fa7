#if os(Linux)
import Foundation

/// What this process has of the system, for tests that look for what is left behind. They run in a process of their own, as
/// exit tests, since others would count too.
public enum OwnProcess {
    /// How many of its threads have a name, of which Linux keeps 15 bytes.
    public static func threads(named name: String) -> Int {
        threadNames.count { $0 == name.prefix(15) }
    }

    /// The names of its threads.
    public static var threadNames: [String] {
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return ids.compactMap { text("/proc/self/task/\($0)/comm")?.trimmingCharacters(in: .newlines) }
    }

    /// How many descriptors it has open.
    public static var descriptors: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
    }

    /// The bytes of memory that it holds now.
    public static var memory: Int { status("VmRSS") }

    /// The most bytes of memory that it has held since its start or the last ``forgetPeak()``.
    public static var peakMemory: Int { status("VmHWM") }

    /// Begins to measure ``peakMemory`` anew.
    public static func forgetPeak() { try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }

    private static func status(_ field: String) -> Int {
        let line = text("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
