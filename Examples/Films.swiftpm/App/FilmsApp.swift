import FilmsModel
import Foundation
import InterceptorsImages
import SwiftUI
import UIKit

@main
struct FilmsApp: App {
    private let server: DemoServer
    private let api: FilmsAPI
    private let images: ImageLoader<UIImage>
    @State private var library: FilmLibrary

    init() {
        server = DemoServer()
        api = FilmsAPI(transport: server, store: .disk(at: .cachesDirectory.appending(path: "Films")))
        images = ImageLoader<UIImage>(api.client)
        _library = State(initialValue: FilmLibrary(api))
    }

    var body: some Scene {
        WindowGroup {
            FilmList(library: library, images: images, journal: api.journal, server: server)
        }
    }
}
