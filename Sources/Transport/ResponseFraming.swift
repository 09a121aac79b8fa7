/// The rules for the fields that frame a response (RFC 9112 §6.3). Libraries accept forbidden ones, each in its way, so
/// another client or a proxy may see other responses in the same bytes.
package enum ResponseFraming {
    /// A field that frames a response in a way that is forbidden.
    package struct Fault: Error {
        /// A sentence for a person.
        package let message: String
    }

    /// The length that a value of `Content-Length` states. A list of equal lengths states one.
    ///
    /// - Parameter known: the length that the values before it stated, with which it must agree.
    package static func length(of value: String, after known: Int64?) throws(Fault) -> Int64 {
        var length = known
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            let text = String(digits)
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
                throw Fault(message: "The Content-Length of the response is no length.")
            }
            guard length == nil || length == number else {
                throw Fault(message: "The response has two lengths that differ.")
            }
            length = number
        }
        return length ?? 0
    }

    /// The transfer codings that a value of `Transfer-Encoding` adds to those of the values before it.
    package static func codings(of value: String, after known: [String]) throws(Fault) -> [String] {
        let blanks: Set<Character> = [" ", "\t"]
        let codings = known + value.lowercased().split { $0 == "," || blanks.contains($0) }.map(String.init)
        guard !codings.dropLast().contains("chunked") else {
            throw Fault(message: "The response is chunked before its last transfer coding.")
        }
        return codings
    }
}
