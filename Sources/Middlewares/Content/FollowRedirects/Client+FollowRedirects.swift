public import Foundation

extension Client {
    /// Creates a client that only follows redirects.
    ///
    /// ```swift
    /// let api = Client(baseURL: URL(string: "https://api.example.com/v1"))
    /// ```
    /// An `interceptors` argument replaces this default: a client with an array that lacks `.followRedirects()` follows none.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without a base URL, every call must have an absolute URL.
    ///   - transport: sends the requests; by default the platform's best transport, with a separate pool of connections.
    ///   - encoder: encodes request values, `JSONEncoder` by default.
    ///   - decoder: decodes response values, `JSONDecoder` by default.
    ///   - observer: watches each element of the chain; by default none.
    public init(
        baseURL: URL? = nil,
        transport: any Transport = .platform(),
        encoder: any BodyEncoder = JSONEncoder(),
        decoder: any BodyDecoder = JSONDecoder(),
        observer: (any ChainObserver)? = nil
    ) {
        self.init(
            baseURL: baseURL,
            interceptors: [.followRedirects()],
            transport: transport,
            encoder: encoder,
            decoder: decoder,
            observer: observer
        )
    }
}
