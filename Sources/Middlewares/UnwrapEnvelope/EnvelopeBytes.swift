internal import Foundation

extension JSONScanner {
    static func find(_ paths: [[[UInt8]]], in data: Data) throws(Failure) -> [Range<Int>?] {
        // Data's closure would lose the type of the error.
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try find(paths, in: bytes) }
        }
        return try result.get()
    }
}

extension Data {
    /// What a closure makes of the bytes from one offset to another, counted from the start.
    func reading<Value>(_ place: Range<Int>, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[place])) }
    }

    /// The bytes from one offset to another, counted from the start, as data that begins at index 0 and holds on to
    /// nothing else.
    func bytes(at place: Range<Int>) -> Data {
        Data(self[startIndex + place.lowerBound..<startIndex + place.upperBound])
    }

    /// The bytes from one offset to another, counted from the start, as data that begins at index 0.
    ///
    /// A large part of data that nothing else holds is moved to its front, in the same memory. A small part is copied, so
    /// that it does not keep the memory of the whole.
    consuming func cut(to place: Range<Int>) -> Data {
        guard startIndex == 0, place.count > count / 2 else { return bytes(at: place) }
        var part = self
        if place.upperBound < part.count { part.removeSubrange(place.upperBound...) }
        if place.lowerBound > 0 { part.removeSubrange(..<place.lowerBound) }
        return part
    }
}
