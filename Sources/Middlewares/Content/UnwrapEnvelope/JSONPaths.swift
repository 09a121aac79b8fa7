/// The paths to search for, with all names in one array of bytes, so that comparing a name allocates and retains nothing.
///
/// A class, because a scanner that held a struct would retain each of its arrays.
final class JSONPaths: Sendable {
    private struct Name {
        let start: Int
        let count: Int
    }

    /// The number of paths.
    let count: Int
    private let bytes: [UInt8]
    private let names: [Name]
    // The index of each path's first name; the last element is the number of names.
    private let firsts: [Int]

    /// - Parameter paths: for each wanted value, the names of the members that lead to it, in UTF-8.
    init(_ paths: [[[UInt8]]]) {
        count = paths.count
        let all = paths.flatMap { $0 }
        bytes = all.flatMap { $0 }
        names = all.reduce(into: []) { names, name in
            names.append(Name(start: names.last.map { $0.start + $0.count } ?? 0, count: name.count))
        }
        firsts = paths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    }

    /// The number of names in a path.
    @inline(__always)
    func length(of path: Int) -> Int { firsts[path + 1] - firsts[path] }

    /// Whether the name at a level of a path, counted from 0, equals `name`.
    @inline(__always)
    func isName(of path: Int, level: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let wanted = names[firsts[path] + level]
        // Nearly all names that differ also differ in length.
        guard name.count == wanted.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            for offset in 0..<wanted.count where bytes[wanted.start + offset] != name[offset] { return false }
            return true
        }
    }
}
