enum Wire {
    /// The lines of a head, without their ends.
    static func lines(_ head: String) -> [[UInt8]] {
        head.split(separator: "\r\n").map { Array($0.utf8) }
    }

    static func get(
        _ target: String = "/",
        _ fields: String = "",
        method: String = "GET",
        version: String = "1.1"
    ) -> String {
        "\(method) \(target) HTTP/\(version)\r\nHost: localhost\r\n\(fields)\r\n"
    }

    static func post(_ target: String = "/", _ body: String, _ fields: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }
}
