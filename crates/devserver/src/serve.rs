//! A running development server: watcher, builder and HTTP together.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use notify::RecommendedWatcher;
use tokio::runtime::Runtime;

use crate::builder::Builder;
use crate::change::Project;
use crate::error::ServeError;
use crate::news::Board;
use crate::server::{Folders, router};
use crate::watch::watch;

/// A server that builds and serves until it is dropped.
pub struct Serving {
    address: SocketAddr,
    board: Board,
    runtime: Runtime,
    _watching: RecommendedWatcher,
}

impl Serving {
    /// Starts to serve the project in `root`, on this port of this machine or on a free one for 0,
    /// and to build it.
    ///
    /// # Errors
    /// When the port is taken or files cannot be watched.
    pub fn start(root: &Path, target: PathBuf, port: u16) -> Result<Self, ServeError> {
        let folders = Folders {
            out: target.join("serve"),
            project: root.to_owned(),
        };
        std::fs::create_dir_all(&folders.out).map_err(|source| ServeError::File {
            path: folders.out.clone(),
            source,
        })?;
        let (orders, inbox) = mpsc::channel();
        let board = Board::default();
        let watching = watch(root, orders.clone())?;
        let project = Project::read(root)?;
        let mut builder = Builder::new(
            project,
            folders.clone(),
            target,
            board.clone(),
            orders.clone(),
        );
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |source| ServeError::Program {
            program: format!("http://{wanted}"),
            source,
        };
        let runtime = Runtime::new().map_err(failed)?;
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(wanted))
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let router = router(&folders, board.clone(), orders);
        runtime.spawn(async move { axum::serve(listener, router).await });
        std::thread::spawn(move || builder.work(&inbox));
        Ok(Self {
            address,
            board,
            runtime,
            _watching: watching,
        })
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns whether the first build is done.
    pub fn is_ready(&self) -> bool {
        self.board.is_ready()
    }

    /// Serves until the program is stopped.
    pub fn forever(self) {
        self.runtime.block_on(std::future::pending::<()>());
    }
}
