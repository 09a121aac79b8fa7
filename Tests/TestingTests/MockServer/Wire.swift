enum Wire {
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
