//! Sends the traffic of 127.0.0.1 through a device whose packets a process carries.
//!
//! In a private network namespace, packets to 127.0.0.1 are routed to a TUN device instead of the
//! loopback device, and packets from that device are delivered to this machine. Every connection
//! between processes of the namespace thus goes through the process that has the device open, with
//! TCP and UDP of the kernel at both ends. Servers and clients do not notice. See tun.rst of the
//! kernel's documentation, ip-rule(8), and ip-sysctl.rst for `route_localnet` and `accept_local`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use crate::loopback::{DEVICE, is_isolated};
use crate::netlink::{Interface, LOCAL, Request, check_result};

/// Largest packet in bytes, as on Ethernet.
const MTU: libc::c_int = 1_500;

/// Number of packets that the device queues until they are read. It is so large that only the model
/// drops packets.
const QUEUE_PACKETS: libc::c_int = 20_000;

/// Number of the routing table with the route to the device.
const TABLE: u8 = 100;

/// Creates the device through which 127.0.0.1 is reached, for the process that carries its packets.
/// The network namespace of this process must be a private one ([`enter`](crate::enter)).
///
/// # Errors
/// If the namespace is shared with other processes, whose routes would change. If the kernel has
/// no TUN devices or no routing by rules, or does not allow this user to use them.
pub fn create_tunnel() -> io::Result<File> {
    if !is_isolated() {
        return Err(io::Error::other("this process has no network namespace of its own"));
    }
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")
        .map_err(|error| with_context("/dev/net/tun", &error))?;
    // A new device would look for routers by IPv6, which would count as traffic. A kernel
    // without IPv6 has no such file.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    let index = configure(&opened).map_err(|error| with_context("a TUN device", &error))?;
    let set = |of: &str, name: &str, value: &str| {
        let path = format!("/proc/sys/net/ipv4/conf/{of}/{name}");
        fs::write(&path, value).map_err(|error| with_context(&path, &error))
    };
    set(DEVICE, "route_localnet", "1")?;
    set(DEVICE, "accept_local", "1")?;
    set(DEVICE, "rp_filter", "0")?;
    set("all", "rp_filter", "0")?;
    for request in [
        Request::add_rule(1, Some(DEVICE), LOCAL),
        Request::loopback_route(index, TABLE),
        Request::add_rule(2, None, TABLE),
        // The first rule, which finds 127.0.0.1 on the loopback device.
        Request::remove_rule(0, LOCAL),
    ] {
        request.send().map_err(|error| with_context("a route of its own", &error))?;
    }
    Ok(opened)
}

fn with_context(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Names the device, sets its MTU and queue, and brings it up. Returns its index. See netdevice(7).
fn configure(device: &File) -> io::Result<u32> {
    /// `_IOW('T', 202, int)`.
    const TUNSETIFF: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;
    let mut interface = Interface::open(DEVICE)?;
    interface.request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: it reads the name and the flags, and writes only that structure.
    check_result(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF, &mut interface.request) })?;
    interface.request.ifr_ifru.ifru_mtu = MTU;
    interface.ioctl(libc::SIOCSIFMTU as libc::Ioctl)?;
    interface.request.ifr_ifru.ifru_metric = QUEUE_PACKETS;
    interface.ioctl(libc::SIOCSIFTXQLEN as libc::Ioctl)?;
    interface.bring_up()?;
    interface.ioctl(libc::SIOCGIFINDEX as libc::Ioctl)?;
    // SAFETY: that request has set the index.
    Ok(unsafe { interface.request.ifr_ifru.ifru_ifindex } as u32)
}

/// Measures the round trip of a byte to 127.0.0.1 and back over TCP. Returns the median of seven.
///
/// # Errors
/// If it takes longer than a minute, or the port cannot be opened.
pub fn round_trip() -> io::Result<Duration> {
    const TIMES: usize = 7;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut here = TcpStream::connect(listener.local_addr()?)?;
    let (mut there, _) = listener.accept()?;
    for end in [&here, &there] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(Duration::from_secs(60)))?;
    }
    let mut times = [Duration::ZERO; TIMES];
    let mut byte = [0];
    for time in &mut times {
        let began = Instant::now();
        here.write_all(&byte)?;
        there.read_exact(&mut byte)?;
        there.write_all(&byte)?;
        here.read_exact(&mut byte)?;
        *time = began.elapsed();
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}
