//! How mechanisms are cut, and what that leaves to each part.

use oldham_model::{InterfaceNode, Mechanism, Model, PartitionReport, Pose, SubdomainReport};
use oldham_multibody::NodeId;
use serde::{Serialize, Serializer};

use crate::{StudyError, mechanisms};

/// A mechanism that is cut.
#[derive(Clone, Debug)]
pub struct CutMechanism<'m> {
    /// Which one.
    pub mechanism: Mechanism<'m>,
    /// How it is cut.
    pub partition: PartitionReport,
    /// Poses of the nodes as given, the ground first.
    pub poses: Vec<Pose>,
}

/// The mechanisms that are cut, and the names of those that are not.
pub fn partitions(model: &Model) -> Result<(Vec<CutMechanism<'_>>, Vec<&str>), StudyError> {
    let (mut cuts, mut whole) = (Vec::new(), Vec::new());
    for mechanism in mechanisms(model)? {
        match mechanism.partition() {
            Some(partition) => cuts.push(CutMechanism {
                mechanism,
                partition,
                poses: mechanism.given(),
            }),
            None => whole.push(mechanism.name()),
        }
    }
    Ok((cuts, whole))
}

impl CutMechanism<'_> {
    /// The name of a subdomain.
    pub fn subdomain(&self, piece: usize) -> &str {
        &self.partition.pieces[piece].name
    }

    /// The subdomains that follow an interface node.
    pub fn followers(&self, interface: &InterfaceNode) -> Vec<&str> {
        let followers = interface.followers.iter();
        followers.map(|&piece| self.subdomain(piece)).collect()
    }

    /// The name of a node.
    pub fn node(&self, node: NodeId) -> &str {
        &self.mechanism.sketch().nodes[node.index()]
    }
}

/// A subdomain as it is serialised: some of it under two names, the later of which is the older.
#[derive(Serialize)]
struct SubdomainData<'a> {
    name: &'a str,
    coupling: bool,
    nodes: usize,
    interface_copies: usize,
    copies: usize,
    elements: usize,
    unknowns: usize,
    mass: f64,
    load: f64,
    work: f64,
}

#[derive(Serialize)]
struct InterfaceData<'a> {
    node: &'a str,
    owner: &'a str,
    slaved: Vec<&'a str>,
    followers: Vec<&'a str>,
    mass: f64,
    inertia: [f64; 3],
}

#[derive(Serialize)]
struct PartitionData<'a> {
    part: &'a str,
    scheme: &'a str,
    subsystems: Vec<SubdomainData<'a>>,
    interfaces: Vec<InterfaceData<'a>>,
    speed_up: f64,
}

impl Serialize for CutMechanism<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let partition = &self.partition;
        let subdomain = |(index, piece)| {
            let (piece, load): (&SubdomainReport, f64) = (piece, partition.share(index));
            SubdomainData {
                name: &piece.name,
                coupling: piece.is_coupling,
                nodes: piece.size.nodes,
                interface_copies: piece.size.copies,
                copies: piece.size.copies,
                elements: piece.size.elements,
                unknowns: piece.size.unknowns,
                mass: piece.size.mass,
                load,
                work: load,
            }
        };
        let interfaces = partition.interfaces.iter().map(|interface| InterfaceData {
            node: self.node(interface.node),
            owner: self.subdomain(interface.owner),
            slaved: self.followers(interface),
            followers: self.followers(interface),
            mass: interface.mass,
            inertia: interface.inertia,
        });
        let data = PartitionData {
            part: self.mechanism.name(),
            scheme: partition.scheme,
            subsystems: partition.pieces.iter().enumerate().map(subdomain).collect(),
            interfaces: interfaces.collect(),
            speed_up: partition.speed_up(),
        };
        data.serialize(serializer)
    }
}
