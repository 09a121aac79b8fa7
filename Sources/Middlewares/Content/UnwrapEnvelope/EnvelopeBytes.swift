internal import Foundation

extension JSONScanner {
    /// Scans `data` and passes the ranges of the values found, one per path, to `read`, with the bytes they index.
    static func find(
        _ paths: JSONPaths,
        in data: Data,
        _ read: (_ places: UnsafeMutableBufferPointer<Range<Int>?>, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        // `withUnsafeBytes` on `Data` rethrows untyped errors, so the failure leaves the closure through a variable.
        var failure: Failure?
        data.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: Range<Int>?.self, capacity: paths.count) { places in
                do throws(Failure) {
                    try find(paths, in: bytes, places)
                    read(places, bytes)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    static func find(_ paths: [[[UInt8]]], in data: Data) throws(Failure) -> [Range<Int>?] {
        var found: [Range<Int>?] = []
        try find(JSONPaths(paths), in: data) { places, _ in found = Array(places) }
        return found
    }
}

extension Data {
    /// Calls `read` with the bytes in a range of offsets, counted from the start, and returns its result.
    func reading<Value>(_ place: Range<Int>, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[place])) }
    }

    /// A copy of the bytes in a range of offsets, counted from the start.
    ///
    /// The copy begins at index 0 and doesn't keep the rest of this data alive.
    func bytes(at place: Range<Int>) -> Data {
        withUnsafeBytes { all in
            all.baseAddress.map { Data(bytes: $0 + place.lowerBound, count: place.count) } ?? Data()
        }
    }
}
