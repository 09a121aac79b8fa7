import FilmsModel
import Foundation
import InterceptorsImages
import InterceptorsInsight
import SwiftUI
import UIKit

struct FilmList: View {
    @Bindable var library: FilmLibrary
    let images: ImageLoader<UIImage>
    let journal: Journal
    let server: DemoServer
    @State private var isDebugging = false

    var body: some View {
        NavigationStack {
            List {
                if library.isShowingStored {
                    Label("Offline: these films were stored earlier.", systemImage: "wifi.slash")
                }
                if let text = library.errorText { Text(text).foregroundStyle(.red) }
                ForEach(library.films) { film in FilmRow(film: film, images: images) }
            }
            .navigationTitle("Films")
            .searchable(text: $library.searchText)
            .onChange(of: library.searchText) { Task { await library.load() } }
            .refreshable { await library.refresh() }
            .toolbar {
                ToolbarItem(placement: .topBarLeading) { Button("Debug") { isDebugging = true } }
                ToolbarItem(placement: .topBarTrailing) { Button("Sign Out") { Task { await library.signOut() } } }
            }
            .sheet(isPresented: $isDebugging) { DebugScreen(journal: journal, server: server) }
        }
        .sheet(isPresented: .constant(!library.isSignedIn)) { SignIn(library: library).interactiveDismissDisabled() }
        // The loader doesn't know accounts.
        .onChange(of: library.account) { images.removeAll() }
    }
}

private struct FilmRow: View {
    let film: Film
    let images: ImageLoader<UIImage>

    var body: some View {
        HStack {
            RemoteImage(URL(string: film.poster), from: images) { result in
                switch result {
                case .success(let loaded): Image(uiImage: loaded.image).resizable()
                case .failure: Image(systemName: "film")
                case nil: ProgressView()
                }
            }
            .frame(width: 40, height: 60)
            VStack(alignment: .leading) {
                Text(film.title)
                Text(verbatim: "\(film.year)").foregroundStyle(.secondary)
            }
        }
    }
}
