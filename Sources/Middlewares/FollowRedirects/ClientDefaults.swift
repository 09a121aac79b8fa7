public import Foundation

extension Client {
    /// A client that follows redirects and does nothing else: what a call without a chain of its own is meant to do.
    ///
    /// ```swift
    /// let api = Client(baseURL: URL(string: "https://api.example.com/v1"))
    /// ```
    /// With an `interceptors` argument the array is taken literally: one without `.followRedirects()` follows none.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without it, every call must name one.
    ///   - transport: what sends the requests; by default the best one of the platform, with connections of its own.
    ///   - encoder: encodes the values that are sent.
    ///   - decoder: decodes the values that come back.
    public init(
        baseURL: URL? = nil,
        transport: any Transport = .platform(),
        encoder: any BodyEncoder = JSONEncoder(),
        decoder: any BodyDecoder = JSONDecoder()
    ) {
        self.init(
            baseURL: baseURL,
            interceptors: [.followRedirects()],
            transport: transport,
            encoder: encoder,
            decoder: decoder
        )
    }
}
