#if canImport(SwiftUI)
public import Foundation
public import SwiftUI

/// A view of the image at a URL: it loads when it appears, and drops the load when it disappears or gets another URL.
///
/// ```swift
/// struct Poster: View {
///     let url: URL?
///     let images: ImageLoader<Picture>
///
///     var body: some View {
///         RemoteImage(url, from: images) { result in
///             switch result {
///             case .success(let loaded): Text("\(loaded.image.width) × \(loaded.image.height)")
///             case .failure: Text("No picture")
///             case nil: ProgressView()
///             }
///         }
///     }
/// }
/// ```
/// An image in memory appears at once. An earlier URL's image never appears for a later URL.
@MainActor
public struct RemoteImage<Picture: Sendable, Content: View>: View {
    private struct Identity: Equatable {
        let key: ImageKey?
        // Kept, because another loader may get the address of one that has ended.
        let loader: ImageLoader<Picture>

        static func == (left: Self, right: Self) -> Bool { left.key == right.key && left.loader === right.loader }
    }

    private struct Loaded {
        let identity: Identity
        let result: Result<LoadedImage<Picture>, any Error>
    }

    private let url: URL?
    private let loader: ImageLoader<Picture>
    private let variant: (any ImageVariant<Picture>)?
    private let content: (Result<LoadedImage<Picture>, any Error>?) -> Content
    @State private var loaded: Loaded?

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - url: an absolute URL, or a relative one, which is a path below the client's base URL; `nil` to load nothing.
    ///   - loader: the loader that keeps and loads the image.
    ///   - variant: the form of the image; by default the one that the loader decodes.
    ///   - content: makes the view of the image or the error; of `nil` while the image loads.
    public init(
        _ url: URL?,
        from loader: ImageLoader<Picture>,
        as variant: (any ImageVariant<Picture>)? = nil,
        @ViewBuilder content: @escaping (Result<LoadedImage<Picture>, any Error>?) -> Content
    ) {
        self.url = url
        self.loader = loader
        self.variant = variant
        self.content = content
    }

    /// The view that the closure makes.
    public var body: some View {
        // A container, because SwiftUI starts no task of an empty view, and the closure may make one.
        ZStack { content(result) }.task(id: identity) { await load() }
    }

    private var identity: Identity {
        Identity(key: url.map { ImageKey($0, variant) }, loader: loader)
    }

    private var result: Result<LoadedImage<Picture>, any Error>? {
        if let loaded, loaded.identity == identity { return loaded.result }
        guard let url, let image = loader.imageInMemory(at: RequestTarget(url), as: variant) else { return nil }
        return .success(LoadedImage(image, from: .memory))
    }

    private func load() async {
        // An image that isn't shown any more is released.
        if let loaded, loaded.identity != identity { self.loaded = nil }
        guard let url else { return }
        let result: Result<LoadedImage<Picture>, any Error>
        do {
            result = .success(try await loader.image(at: RequestTarget(url), as: variant))
        } catch {
            result = .failure(error)
        }
        // The task is cancelled when the view disappears or gets another URL.
        guard !Task.isCancelled else { return }
        // The view has appeared again. The image that it shows is better than an error.
        if case .failure = result, case .success? = loaded?.result { return }
        loaded = Loaded(identity: identity, result: result)
    }
}
#endif
